import type { TowView } from '../../contracts/operator';
import { auditOf, damagedAmong, type Actor } from '../../domain/ops/audit';
import type { Photo } from '../../domain/tow/dispatch';
import { addPhotosTo } from '../../domain/tow/dispatch-rules';
import { addEvent } from '../../domain/outbox/outbox-record';
import { invalid } from '../../domain/refusal';
import { isoTimestamp } from '../../domain/timestamp';
import type { ViolationImage } from '../../domain/violation/violation';
import type { Clock } from '../../platform/clock';
import { changeTow, noSuchTow, type TowRequest } from '../outbox/change-record';
import { refused, type ActionResult } from '../action-result';
import type { TowStore } from '../ports';
import { changeWithFiles } from '../outbox/change-record';
import type { Upload } from '../ops/spool-port';
import type { RecordStore } from '../transaction-port';

interface PhotosTools {
  readonly tows: Pick<TowStore, 'read'>;
  readonly records: RecordStore;
  readonly clock: Clock;
}

interface PhotosRequest extends TowRequest {
  readonly images: readonly ViolationImage[];
  readonly upload: Upload;
  readonly actor: Actor;
}

/** Adds photos to a tow, or refuses and keeps nothing. Photos are never sent to the service. */
export async function addPhotos(tools: PhotosTools, request: PhotosRequest): Promise<ActionResult<TowView>> {
  const { ref, upload, actor } = request;
  if (request.images.length === 0) return refused(noImages);
  const at = isoTimestamp(tools.clock.nowMs());
  const photos: Photo[] = request.images.map((image) => ({ id: tools.clock.id(), ...image, at, by: actor.name }));
  const ids = photos.map(({ id }) => id);
  // Check first: what will be refused must not be written to the disk.
  const found = await tools.tows.read(ref);
  if (!found) return refused(noSuchTow);
  const wanted = addPhotosTo(found.tow, photos);
  if (!wanted.ok) return refused(wanted.refusal);
  const listPhotos = () =>
    changeTow(tools.records, request, (draft, { nowMs }) => {
      const added = addPhotosTo(draft.tow, photos);
      if (!added.ok) return added;
      draft.tow = added.tow;
      const what = { photo_ids: ids, ...damagedAmong(photos) };
      const audit = auditOf(actor, 'tow.photo_added', { on: { towing_reference_id: ref }, what });
      addEvent(draft, { type: audit.action, photo_ids: ids, by: actor.name }, nowMs);
      return { ok: true, audit };
    });
  return changeWithFiles(tools.records, { upload, place: { kind: 'photos', towingReference: ref } }, listPhotos);
}

const noImages = invalid([{ field: 'images', rule: 'is required (at least one image)' }]).refusal;
