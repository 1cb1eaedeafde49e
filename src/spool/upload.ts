import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { DataKeys } from '../platform/data-keys';
import type { SpooledFile, SpoolPlace, Upload } from '../workflow/ops/spool-port';
import { ensureFolder, folderOf, type SpoolLayout } from './folders';
import { errorCode } from '../platform/errors';
import { FILE_MODE, FOLDER_MODE, moveFile, syncFolder } from '../platform/folders';
import { imageTypeOf } from './image-type';
import { imageBytes, storedPieces } from './stored-image';

/** Begins an upload in a folder of its own. Its files count only after `keep`. */
export async function beginUpload(
  layout: SpoolLayout,
  { id, keys }: { readonly id: string; readonly keys: DataKeys | null },
): Promise<Upload> {
  const folder = join(layout.incoming, id);
  await ensureFolder(layout.incoming);
  await mkdir(folder, { mode: FOLDER_MODE });
  const written: string[] = [];
  let kept: SpoolPlace | null = null;

  /** Another upload may have put files beside these. */
  const takeBack = async () => {
    await remove(folder);
    if (!kept) return;
    const target = folderOf(layout, kept);
    await Promise.all(written.map((file) => remove(join(target, file))));
    if (kept.kind === 'violation') await removeIfEmpty(target);
  };

  return {
    async write(bytes) {
      // Unique in every folder: the photos of a tow come from several uploads.
      const file = `${id}.${written.length + 1}`;
      written.push(file);
      return { file, ...(await writeFile(join(folder, file), bytes, keys)) };
    },

    async keep(place) {
      if (kept) throw new Error('an upload is kept once');
      kept = place;
      try {
        await syncFolder(folder);
        const target = folderOf(layout, place);
        const isMoved = place.kind === 'violation' && (await moveWhole(folder, target));
        if (!isMoved) await moveFiles(folder, target, written);
        await syncFolder(layout.incoming);
      } catch (error) {
        await takeBack();
        throw error;
      }
    },

    async discard() {
      if (!kept) await remove(folder);
    },

    takeBack,
  };
}

/** Makes a folder the target in one step. Returns false when the target has files already. */
async function moveWhole(folder: string, target: string): Promise<boolean> {
  await ensureFolder(dirname(target));
  try {
    await rename(folder, target);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOTEMPTY' || code === 'EEXIST') return false;
    throw error;
  }
  await syncFolder(dirname(target));
  return true;
}

/** Moves files beside those that the target has. */
async function moveFiles(folder: string, target: string, files: readonly string[]): Promise<void> {
  await ensureFolder(target);
  for (const file of files) await moveFile(join(folder, file), join(target, file));
  await syncFolder(target);
  await rm(folder, { recursive: true, force: true });
}

/** Streams one file to the disk, and reads back its image type. */
async function writeFile(
  path: string,
  bytes: AsyncIterable<Uint8Array>,
  keys: DataKeys | null,
): Promise<Omit<SpooledFile, 'file'>> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  async function* counted() {
    for await (const piece of bytes) {
      hash.update(piece);
      sizeBytes += piece.length;
      yield piece;
    }
  }
  const handle = await open(path, 'wx+', FILE_MODE);
  try {
    for await (const piece of storedPieces(counted(), path, keys)) await handle.appendFile(piece);
    await handle.sync();
    // Read back, and whole only for a moment: bytes that come slowly never wait in memory.
    const written = keys === null ? handle : await imageBytes(path, keys);
    return { sizeBytes, sha256: hash.digest('hex'), ...(await imageTypeOf(written, sizeBytes)) };
  } finally {
    await handle.close();
  }
}

/** A file that cannot be removed now is swept later. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}

async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}
