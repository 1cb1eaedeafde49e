import { promisify } from 'node:util';
import { deflateRaw, inflateRaw } from 'node:zlib';
import {
  archivedRecord,
  ARCHIVED_TYPES,
  archiveDigest,
  encryptedRecords,
  type ArchivedRecord,
  type EncryptedRecords,
  type RecordCounts,
} from '../contracts/ops/archive';
import { jsonIn } from '../domain/json';
import { keyIdOf, type DataKeys } from '../platform/data-keys';
import { sha256Hex } from '../platform/hash';

/**
 * A batch: the records of one append, one line of JSON each, or one line with all of them encrypted; and their digest as
 * the last line. It contains the hash of the lines as they are stored and of the previous digest in the file, so that a
 * batch cannot be changed, removed or moved, and a file can be verified without a key.
 *
 * Audit entries stay plain, as in Redis: their chain must hold without a key.
 */

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/** Where a batch is: the name of its file, and the hash of the previous digest, '' for the first batch of a file. */
interface BatchPlace {
  readonly file: string;
  readonly previous: string;
}

/** A batch to be written, and the hash of its digest, which the next batch carries. */
interface NewBatch {
  readonly text: Buffer;
  readonly hash: string;
}

/** The lines of records, each with its line feed. */
export function linesOf(records: readonly ArchivedRecord[]): Buffer {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

/** Whether records of these types are encrypted where there is a key. */
export function isPersonal(counts: RecordCounts): boolean {
  return counts.tow + counts.delivery + counts.violation > 0;
}

/** The batch of lines of records, which are encrypted if there are keys and they have personal data. */
export async function batchOf(
  records: Buffer,
  {
    counts,
    place,
    keys,
  }: { readonly counts: RecordCounts; readonly place: BatchPlace; readonly keys: DataKeys | null },
): Promise<NewBatch> {
  const isEncrypted = keys !== null && isPersonal(counts);
  const lines = isEncrypted ? await encryptedLine(records, { counts, place, keys }) : records;
  const number = isEncrypted ? 1 : totalOf(counts);
  const digest = JSON.stringify({ type: 'digest', lines: number, sha256: sha256Hex(lines), previous: place.previous });
  return { text: Buffer.concat([lines, Buffer.from(`${digest}\n`)]), hash: sha256Hex(digest) };
}

/** Deflates the lines first, because encrypted bytes do not compress. */
async function encryptedLine(
  lines: Buffer,
  { counts, place, keys }: { readonly counts: RecordCounts; readonly place: BatchPlace; readonly keys: DataKeys },
): Promise<Buffer> {
  const records = Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
  const data = keys.encrypt(placeText(place, records), await deflate(lines));
  return Buffer.from(`${JSON.stringify({ type: 'encrypted', records, data } satisfies EncryptedRecords)}\n`);
}

/**
 * A line cannot be decrypted in another file or at another position. The counts are readable without a key, and
 * authenticated too.
 */
function placeText({ file, previous }: BatchPlace, records: EncryptedRecords['records']): string {
  return ['archive', file, previous, ...ARCHIVED_TYPES.map((type) => records[type] ?? 0)].join('\n');
}

/** A batch whose digest was verified. */
export interface VerifiedBatch {
  readonly counts: RecordCounts;
  /** The id of the key that it is encrypted under; null for a plain one. */
  readonly keyId: string | null;
  readonly hash: string;
  /** The lines of its records as they were archived. */
  readonly lines: (keys: DataKeys | null) => Promise<BatchLines>;
}

type BatchLines =
  | { readonly kind: 'lines'; readonly text: Buffer }
  | { readonly kind: 'missing_key'; readonly keyId: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** Verifies a batch without a key; returns the problem as text when it is not intact. */
export function verifyBatch(text: Buffer, place: BatchPlace): VerifiedBatch | string {
  const digestAt = text.lastIndexOf('\n', text.length - 2) + 1;
  const [lines, digest] = [text.subarray(0, digestAt), text.subarray(digestAt, -1)];
  const stated = archiveDigest.safeParse(jsonIn(digest.toString()));
  if (!stated.success) return 'has no digest';
  if (stated.data.sha256 !== sha256Hex(lines)) return 'holds lines that are not those of its digest';
  if (stated.data.previous !== place.previous) return 'does not follow the batch before it';
  const hash = sha256Hex(digest);
  const encrypted = stated.data.lines === 1 ? encryptedRecords.safeParse(jsonIn(lines.toString())).data : undefined;
  if (encrypted) return encryptedBatch(encrypted, { place, hash });
  const records = recordsIn(lines);
  if (typeof records === 'string') return records;
  if (records.length !== stated.data.lines) return 'does not hold as many lines as its digest states';
  return {
    counts: countsOf(records),
    keyId: null,
    hash,
    lines: () => Promise.resolve({ kind: 'lines', text: lines }),
  };
}

function encryptedBatch(
  encrypted: EncryptedRecords,
  { place, hash }: { readonly place: BatchPlace; readonly hash: string },
): VerifiedBatch | string {
  const keyId = keyIdOf(encrypted.data);
  if (keyId === null) return 'holds encrypted records that name no key';
  const counts = { ...NO_RECORDS, ...encrypted.records };
  return {
    counts,
    keyId,
    hash,
    async lines(keys) {
      const found = keys?.decryptBytes(placeText(place, encrypted.records), encrypted.data);
      if (found === undefined || found.kind === 'unknown_key') return { kind: 'missing_key', keyId };
      if (found.kind === 'bytes') return { kind: 'lines', text: await inflate(found.bytes) };
      const problem = `cannot be decrypted with the data key "${keyId}": it was moved or changed, or DATA_KEYS_FILE has another key of this id`;
      return { kind: 'broken', problem };
    },
  };
}

/** The records of lines; the problem as text when one is no record. */
export function recordsIn(lines: Buffer): ArchivedRecord[] | string {
  const records: ArchivedRecord[] = [];
  for (const line of lines.toString().split('\n').slice(0, -1)) {
    const record = archivedRecord.safeParse(jsonIn(line));
    if (!record.success) return 'holds a line that is no record';
    records.push(record.data);
  }
  return records;
}

const NO_RECORDS: RecordCounts = { tow: 0, delivery: 0, violation: 0, audit: 0 };

export function countsOf(records: readonly Pick<ArchivedRecord, 'type'>[]): RecordCounts {
  const counts = { ...NO_RECORDS };
  for (const { type } of records) counts[type] += 1;
  return counts;
}

function totalOf({ tow, delivery, violation, audit }: RecordCounts): number {
  return tow + delivery + violation + audit;
}
