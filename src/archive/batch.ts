import {
  archivedRecord,
  archiveSeal,
  encryptedRecords,
  type ArchivedRecord,
  type EncryptedRecords,
  type RecordCounts,
} from '../contracts/ops/archive';
import { jsonIn } from '../domain/json';
import { sealingKeyOf, type DataKeys } from '../platform/data-keys';
import { sha256Hex } from '../platform/hash';
import { decryptLines, encryptLines, isPersonal, type BatchPlace } from './encryption';

/**
 * A batch: the records of one append, one line of JSON each, or one line with all of them encrypted; and a last line that
 * seals them. The seal contains the hash of the lines as they are stored and of the previous seal in the file, so that a
 * batch cannot be changed, removed or moved, and a file can be verified without a key.
 */

/** A batch to be written, and the hash of its seal, which the next batch carries. */
export interface SealedBatch {
  readonly text: Buffer;
  readonly sealHash: string;
}

/** The lines of records, each with its line feed. */
export function linesOf(records: readonly ArchivedRecord[]): Buffer {
  return Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
}

/** Seals the lines of records; encrypts them before, if there are keys and the records have personal data. */
export async function sealBatch(
  records: Buffer,
  {
    counts,
    place,
    keys,
  }: { readonly counts: RecordCounts; readonly place: BatchPlace; readonly keys: DataKeys | null },
): Promise<SealedBatch> {
  const isEncrypted = keys !== null && isPersonal(counts);
  const lines = isEncrypted
    ? Buffer.from(`${JSON.stringify(await encryptLines(records, { counts, place, keys }))}\n`)
    : records;
  const number = isEncrypted ? 1 : totalOf(counts);
  const seal = JSON.stringify({ type: 'seal', lines: number, sha256: sha256Hex(lines), previous: place.previous });
  return { text: Buffer.concat([lines, Buffer.from(`${seal}\n`)]), sealHash: sha256Hex(seal) };
}

/** A batch whose seal was verified. */
export interface VerifiedBatch {
  readonly counts: RecordCounts;
  /** The id of the key that it is encrypted under; null for a plain one. */
  readonly keyId: string | null;
  readonly sealHash: string;
  /** The lines of its records as they were archived. */
  readonly lines: (keys: DataKeys | null) => Promise<BatchLines>;
}

export type BatchLines =
  | { readonly kind: 'lines'; readonly text: Buffer }
  | { readonly kind: 'missing_key'; readonly keyId: string }
  | { readonly kind: 'broken'; readonly problem: string };

/** Verifies a batch without a key; returns the problem as text when it is not intact. */
export function verifyBatch(text: Buffer, place: BatchPlace): VerifiedBatch | string {
  const sealAt = text.lastIndexOf('\n', text.length - 2) + 1;
  const [lines, seal] = [text.subarray(0, sealAt), text.subarray(sealAt, -1)];
  const sealed = archiveSeal.safeParse(jsonIn(seal.toString()));
  if (!sealed.success) return 'has no seal';
  if (sealed.data.sha256 !== sha256Hex(lines)) return 'holds lines that are not those that were sealed';
  if (sealed.data.previous !== place.previous) return 'does not follow the batch before it';
  const sealHash = sha256Hex(seal);
  const encrypted = sealed.data.lines === 1 ? encryptedRecords.safeParse(jsonIn(lines.toString())).data : undefined;
  if (encrypted) return encryptedBatch(encrypted, { place, sealHash });
  const records = recordsIn(lines);
  if (typeof records === 'string') return records;
  if (records.length !== sealed.data.lines) return 'does not hold as many lines as were sealed';
  return {
    counts: countsOf(records),
    keyId: null,
    sealHash,
    lines: () => Promise.resolve({ kind: 'lines', text: lines }),
  };
}

function encryptedBatch(
  encrypted: EncryptedRecords,
  { place, sealHash }: { readonly place: BatchPlace; readonly sealHash: string },
): VerifiedBatch | string {
  const keyId = sealingKeyOf(encrypted.data);
  if (keyId === null) return 'holds encrypted records that name no key';
  const counts = { ...NO_RECORDS, ...encrypted.records };
  return {
    counts,
    keyId,
    sealHash,
    async lines(keys) {
      const text = await decryptLines(encrypted, { place, keys });
      if (text === 'missing_key') return { kind: 'missing_key', keyId };
      if (text !== 'changed') return { kind: 'lines', text };
      const problem = `does not open with the data key "${keyId}": it was moved or changed, or DATA_KEYS_FILE has another key of this id`;
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
