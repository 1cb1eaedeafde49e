import { createHash } from 'node:crypto';
import { open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BackedUpFile } from '../contracts/ops/backup';
import { nullIfAbsent } from '../platform/errors';
import { FILE_MODE, makeFolder, syncFolder } from '../platform/folders';

/**
 * Writes bytes to `target` below a folder, and returns its size and hash. The file appears under its name only when it
 * is complete and on the disk.
 */
export async function writeFileTo(
  folder: string,
  path: string,
  bytes: AsyncIterable<Uint8Array>,
): Promise<BackedUpFile> {
  const target = join(folder, path);
  const draft = `${target}.part`;
  await makeFolder(dirname(target));
  const hash = createHash('sha256');
  let size = 0;
  const handle = await open(draft, 'w', FILE_MODE);
  try {
    for await (const piece of bytes) {
      hash.update(piece);
      size += piece.length;
      await handle.appendFile(piece);
    }
    await handle.sync();
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await handle.close();
  }
  await syncFolder(dirname(target));
  return { path, bytes: size, sha256: hash.digest('hex') };
}

/**
 * Copies files of a folder below `to` in the folder `target`, each up to its given size. A file that was replaced since
 * it was listed is complete, and copied whole; one that is gone by now is left out.
 */
export async function copyFiles(
  from: string,
  { target, to }: { readonly target: string; readonly to: string },
  files: readonly SourceFile[],
): Promise<BackedUpFile[]> {
  const copied: BackedUpFile[] = [];
  for (const { path, ...listed } of files) {
    const source = join(from, path);
    try {
      copied.push(await writeFileTo(target, `${to}/${path}`, listedBytesOf(source, listed)));
    } catch (error) {
      if ((await sizeOf(source)) !== null) throw error;
    }
  }
  return copied;
}

/** Size and hash of the bytes of a file, as they are or as `pieces` opens them; null without one. */
export async function sizeAndHashOf(
  pieces: AsyncIterable<Uint8Array>,
): Promise<Pick<BackedUpFile, 'bytes' | 'sha256'> | null> {
  const hash = createHash('sha256');
  let bytes = 0;
  try {
    for await (const piece of pieces) {
      hash.update(piece);
      bytes += piece.length;
    }
  } catch (error) {
    return nullIfAbsent(error);
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A file that is to be copied. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
  /** The file that had the path when it was listed; absent where files are not replaced. */
  readonly inode?: bigint;
}

/**
 * All files below a folder, by their paths in it, also those that symbolic links name; none when there is no folder. Files
 * that vanish are left out.
 */
export async function filesBelow(folder: string): Promise<SourceFile[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(nullIfAbsent)) ?? [];
  const found: SourceFile[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) {
      const below = await filesBelow(join(folder, entry.name));
      found.push(...below.map((file) => ({ ...file, path: join(entry.name, file.path) })));
    } else if (entry.isFile() || entry.isSymbolicLink()) {
      const listed = await stat(join(folder, entry.name), { bigint: true }).catch(nullIfAbsent);
      if (listed?.isFile()) found.push({ path: entry.name, bytes: Number(listed.size), inode: listed.ino });
    }
  }
  return found;
}

/** Null without such a file. */
export async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(nullIfAbsent))?.size ?? null;
}

/** All bytes of a file. */
export async function* bytesOf(path: string): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r');
  yield* piecesOf(handle, Infinity);
}

async function* listedBytesOf(path: string, { bytes, inode }: Omit<SourceFile, 'path'>): AsyncGenerator<Uint8Array> {
  const handle = await open(path, 'r');
  const { ino } = await handle.stat({ bigint: true });
  yield* piecesOf(handle, inode === undefined || ino === inode ? bytes : Infinity);
}

/** At most the first `limit` bytes of a file, which it closes. */
async function* piecesOf(handle: FileHandle, limit: number): AsyncGenerator<Uint8Array> {
  try {
    const end = limit - 1;
    if (limit === 0) return;
    const stream: AsyncIterable<unknown> = handle.createReadStream({
      end,
      highWaterMark: READ_BYTES,
      autoClose: false,
    });
    for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
  } finally {
    await handle.close();
  }
}

const READ_BYTES = 1 << 20;
