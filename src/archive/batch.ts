import { archivedRecord, archiveSeal, type ArchivedRecord } from '../contracts/archive';
import { sha256Hex } from '../platform/hash';

/**
 * A batch: the records of one append, one line of JSON each, and a last line that seals them. The seal contains the
 * hash of the lines and of the previous seal in the file, so that a batch cannot be changed, removed or moved.
 */

/** A batch to be written, and the hash of its seal, which the next batch carries. */
export interface SealedBatch {
  readonly text: Buffer;
  readonly sealHash: string;
}

/** Seals records; `previous` is the hash of the previous seal, '' for the first batch of a file. */
export function sealBatch(records: readonly ArchivedRecord[], previous: string): SealedBatch {
  const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('');
  const seal = JSON.stringify({ type: 'seal', lines: records.length, sha256: sha256(lines), previous });
  return { text: Buffer.from(`${lines}${seal}\n`), sealHash: sha256(seal) };
}

/** A batch whose seal was verified. */
export interface OpenedBatch {
  readonly records: readonly ArchivedRecord[];
  readonly sealHash: string;
}

/** Opens and verifies a batch; returns the problem as text when it is not intact. */
export function openBatch(text: Buffer, previous: string): OpenedBatch | string {
  const sealAt = text.lastIndexOf('\n', text.length - 2) + 1;
  const [lines, seal] = [text.subarray(0, sealAt), text.subarray(sealAt, -1)];
  const sealed = archiveSeal.safeParse(json(seal));
  if (!sealed.success) return 'has no seal';
  if (sealed.data.sha256 !== sha256(lines)) return 'holds lines that are not those that were sealed';
  if (sealed.data.previous !== previous) return 'does not follow the batch before it';
  const records: ArchivedRecord[] = [];
  for (const line of lines.toString().split('\n').slice(0, -1)) {
    const record = archivedRecord.safeParse(json(line));
    if (!record.success) return 'holds a line that is no record';
    records.push(record.data);
  }
  if (records.length !== sealed.data.lines) return 'does not hold as many lines as were sealed';
  return { records, sealHash: sha256(seal) };
}

function json(text: Buffer | string): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return null;
  }
}

function sha256(text: Buffer | string): string {
  return sha256Hex(text);
}
