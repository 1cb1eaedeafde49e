import { open, type FileHandle } from 'node:fs/promises';
import type { ArchivedRecord } from '../contracts/ops/archive';
import type { DataKeys } from '../platform/data-keys';
import { recordsIn, verifyBatch, type VerifiedBatch } from './batch';
import type { ArchiveFile } from './files';
import { HEADER_BYTES, mayBeginMember, memberBytes, textOf } from './member';

/** A part of the archive is not as it was written, which a crash cannot cause. Batches count from 1. */
export class ArchiveBroken extends Error {
  constructor(
    readonly file: string,
    readonly batch: number,
    readonly problem: string,
  ) {
    super(`${file}: batch ${batch} ${problem}`);
    this.name = 'ArchiveBroken';
  }
}

/** A batch needs a key that this process lacks. Its digest is right. */
export class ArchiveKeyMissing extends Error {
  constructor(
    readonly file: string,
    readonly batch: number,
    readonly keyId: string,
  ) {
    super(`${file}: batch ${batch} needs the data key "${keyId}", which DATA_KEYS_FILE does not have`);
    this.name = 'ArchiveKeyMissing';
  }
}

/** A batch of a file, whose digest was verified. */
export interface FileBatch extends Pick<VerifiedBatch, 'counts' | 'keyId'> {
  /** The lines of its records as they were archived. @throws ArchiveKeyMissing, ArchiveBroken */
  readonly lines: (keys: DataKeys | null) => Promise<Buffer>;
  /** @throws ArchiveKeyMissing, ArchiveBroken */
  readonly records: (keys: DataKeys | null) => Promise<readonly ArchivedRecord[]>;
}

/** A section of a file: a batch, or at the end a batch that a crash cut short. */
export type ArchiveSection =
  | ({ readonly kind: 'batch' } & FileBatch)
  /** Truncated by a crash or still being written; its records were still in Redis at that time. */
  | { readonly kind: 'torn'; readonly bytes: number };

/** A member ends with a checksum and a length; both are zero only where a power failure left blocks unwritten. */
const UNWRITTEN = Buffer.alloc(8);

/** Reads one file batch by batch and verifies each before it is returned. @throws ArchiveBroken for a changed batch. */
export async function* readFileBatches(file: Pick<ArchiveFile, 'name' | 'path'>): AsyncGenerator<ArchiveSection> {
  const handle = await open(file.path, 'r');
  try {
    const { size } = await handle.stat();
    yield* readBatches(handle, { name: file.name, size });
  } finally {
    await handle.close();
  }
}

/** Reads the first `size` bytes of an open file in the same way. @throws ArchiveBroken */
export async function* readBatches(
  handle: FileHandle,
  { name, size }: { readonly name: string; readonly size: number },
): AsyncGenerator<ArchiveSection> {
  let [at, previous] = [0, ''];
  for (let number = 1; at < size; number += 1) {
    const broken = (problem: string) => new ArchiveBroken(name, number, problem);
    const torn = { kind: 'torn', bytes: size - at } as const;
    const header = await readAt(handle, at, Math.min(HEADER_BYTES, size - at));
    const length = memberBytes(header);
    if (length === null) {
      const isCutShort = header.length < HEADER_BYTES && mayBeginMember(header);
      if (!isCutShort && !(await isUnwritten(handle, at, size))) throw broken('does not begin as a batch does');
      yield torn;
      return;
    }
    if (at + length > size) {
      yield torn;
      return;
    }
    const member = await readAt(handle, at, length);
    const text = await textOf(member);
    if (text === null) {
      const isLast = at + length === size;
      if (!isLast || !member.subarray(-UNWRITTEN.length).equals(UNWRITTEN)) throw broken('cannot be uncompressed');
      yield torn;
      return;
    }
    const batch = verifyBatch(text, { file: name, previous });
    if (typeof batch === 'string') throw broken(batch);
    yield { kind: 'batch', ...batchOfFile(batch, { name, number }) };
    at += length;
    previous = batch.hash;
  }
}

function batchOfFile(
  { counts, keyId, lines }: VerifiedBatch,
  { name, number }: { readonly name: string; readonly number: number },
): FileBatch {
  const linesWith = async (keys: DataKeys | null) => {
    const found = await lines(keys);
    if (found.kind === 'lines') return found.text;
    if (found.kind === 'missing_key') throw new ArchiveKeyMissing(name, number, found.keyId);
    throw new ArchiveBroken(name, number, found.problem);
  };
  return {
    counts,
    keyId,
    lines: linesWith,
    async records(keys) {
      const records = recordsIn(await linesWith(keys));
      if (typeof records === 'string') throw new ArchiveBroken(name, number, records);
      return records;
    },
  };
}

const CHUNK_BYTES = 65_536;

/** True when the rest of the file is zeros. */
async function isUnwritten(handle: FileHandle, from: number, to: number): Promise<boolean> {
  for (let at = from; at < to; at += CHUNK_BYTES) {
    const bytes = await readAt(handle, at, Math.min(CHUNK_BYTES, to - at));
    if (bytes.some((byte) => byte !== 0)) return false;
  }
  return true;
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}
