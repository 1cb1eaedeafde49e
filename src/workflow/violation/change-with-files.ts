import type { ActionResult } from '../action-result';
import type { SpoolPlace, Upload } from '../ops/spool-port';
import type { RecordStore } from '../transaction-port';

/**
 * Keeps the files of an upload and makes the change whose record names them. Removes the files when the change is refused
 * or its commit was not written. When it is uncertain whether the commit was written, it rejects and the files stay.
 */
export async function changeWithFiles<T>(
  records: Pick<RecordStore, 'isUnwritten'>,
  { upload, place }: { readonly upload: Upload; readonly place: SpoolPlace },
  change: () => Promise<ActionResult<T>>,
): Promise<ActionResult<T>> {
  // Files first: once the record is stored, a worker may send them and a page may show them.
  await upload.keep(place);
  try {
    const effect = await change();
    if (effect.kind !== 'done') await upload.takeBack();
    return effect;
  } catch (error) {
    if (records.isUnwritten(error)) await upload.takeBack();
    throw error;
  }
}
