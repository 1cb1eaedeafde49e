import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BackedUpFile } from '../contracts/backup';
import { errorCode } from '../platform/errors';
import { makeFolder, syncFolder } from '../platform/folders';

/** Backups contain personal data: only the user of the process may read them. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

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
  await makeFolder(dirname(target), FOLDER_MODE);
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
 * Copies files of a folder below `to` in the folder `target`, each up to its given size. A file that is gone by now is
 * left out.
 */
export async function copyFiles(
  from: string,
  { target, to }: { readonly target: string; readonly to: string },
  files: readonly SourceFile[],
): Promise<BackedUpFile[]> {
  const copied: BackedUpFile[] = [];
  for (const { path, bytes } of files) {
    const source = join(from, path);
    try {
      copied.push(await writeFileTo(target, `${to}/${path}`, bytesOf(source, bytes)));
    } catch (error) {
      if ((await sizeOf(source)) !== null) throw error;
    }
  }
  return copied;
}

/** Size and hash of the bytes of a file, as they are or as `pieces` opens them; null without one. */
export async function hashOf(
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
    return noneIfAbsent(error);
  }
  return { bytes, sha256: hash.digest('hex') };
}

/** A file that is to be copied. */
export interface SourceFile {
  readonly path: string;
  readonly bytes: number;
}

/** All files below a folder, by their paths in it; none when there is no folder. Files that vanish are left out. */
export async function filesBelow(folder: string): Promise<SourceFile[]> {
  const entries = (await readdir(folder, { withFileTypes: true }).catch(noneIfAbsent)) ?? [];
  const found: SourceFile[] = [];
  for (const entry of entries) {
    if (entry.isDirectory()) {
      const below = await filesBelow(join(folder, entry.name));
      found.push(...below.map(({ path, bytes }) => ({ path: join(entry.name, path), bytes })));
    } else if (entry.isFile()) {
      const bytes = await sizeOf(join(folder, entry.name));
      if (bytes !== null) found.push({ path: entry.name, bytes });
    }
  }
  return found;
}

/** Null without such a file. */
export async function sizeOf(path: string): Promise<number | null> {
  return (await stat(path).catch(noneIfAbsent))?.size ?? null;
}

/** The bytes of a file, at most the first `limit`. */
export async function* bytesOf(path: string, limit = Infinity): AsyncGenerator<Uint8Array> {
  if (limit === 0) return;
  const stream: AsyncIterable<unknown> = createReadStream(path, { end: limit - 1, highWaterMark: READ_BYTES });
  for await (const piece of stream) if (Buffer.isBuffer(piece)) yield piece;
}

const READ_BYTES = 1 << 20;

function noneIfAbsent(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
