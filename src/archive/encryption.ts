import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import { ARCHIVED_TYPES, type ArchivedType, type EncryptedRecords, type RecordCounts } from '../contracts/ops/archive';
import type { DataKeys } from '../platform/data-keys';

/**
 * The encryption of a batch. Its place is authenticated: the name of the file and the hash of the seal before it, so that
 * a line does not open in another file or at another position. Audit entries stay plain, as in Redis: their chain must
 * hold without a key.
 */

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Where a batch is: the name of its file, and the hash of the previous seal, '' for the first batch of a file. */
export interface BatchPlace {
  readonly file: string;
  readonly previous: string;
}

/** Whether records of these types are encrypted where there is a key. */
export function isPersonal(counts: RecordCounts): boolean {
  return counts.tow + counts.delivery + counts.violation > 0;
}

/** Encrypts the lines of records under the first key. Deflates them first, because encrypted bytes do not compress. */
export async function encryptLines(
  lines: Buffer,
  { counts, place, keys }: { readonly counts: RecordCounts; readonly place: BatchPlace; readonly keys: DataKeys },
): Promise<EncryptedRecords> {
  const records = presentCounts(counts);
  return { type: 'encrypted', records, data: keys.seal(placeText(place, records), await deflate(lines)) };
}

/** `missing_key`: there is no key of this id. `changed`: changed, moved, or the key of this id is another one. */
export type DecryptedLines = Buffer | 'missing_key' | 'changed';

export async function decryptLines(
  { records, data }: EncryptedRecords,
  { place, keys }: { readonly place: BatchPlace; readonly keys: DataKeys | null },
): Promise<DecryptedLines> {
  if (keys === null) return 'missing_key';
  const opened = keys.openBytes(placeText(place, records), data);
  switch (opened.kind) {
    case 'bytes':
      return inflate(opened.bytes);
    case 'unknown_key':
      return 'missing_key';
    case 'changed':
      return 'changed';
  }
}

/** The counts are readable without a key, and authenticated too. */
function placeText({ file, previous }: BatchPlace, records: EncryptedRecords['records']): string {
  return ['archive', file, previous, ...ARCHIVED_TYPES.map((type) => records[type] ?? 0)].join('\n');
}

function presentCounts(counts: RecordCounts): Partial<Record<ArchivedType, number>> {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}
