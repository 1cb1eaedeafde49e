import { createHash } from 'node:crypto';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { SpooledFile, SpoolPlace, Upload } from '../workflow/spool-port';
import { ensureFolder, FILE_MODE, FOLDER_MODE, folderOf, syncFolder, type Layout } from './folders';
import { imageTypeOf } from './image-type';

/** Begins to take files in, in a folder of their own that counts for nothing until it is kept. */
export async function beginUpload(layout: Layout, id: string): Promise<Upload> {
  const folder = join(layout.incoming, id);
  await ensureFolder(layout.incoming);
  await mkdir(folder, { mode: FOLDER_MODE });
  const written: string[] = [];
  let kept: SpoolPlace | null = null;

  const takeBack = async () => {
    await remove(folder);
    if (!kept) return;
    const target = folderOf(layout, kept);
    if (kept.kind === 'violation') await remove(target);
    else await Promise.all(written.map((file) => remove(join(target, file))));
  };

  return {
    async write(bytes) {
      // Unique wherever it is kept: a tow's photos of many uploads lie in one folder.
      const file = `${id}.${written.length + 1}`;
      written.push(file);
      return writeFile(join(folder, file), file, bytes);
    },

    async keep(place) {
      if (kept) throw new Error('an upload is kept once');
      kept = place;
      try {
        await syncFolder(folder);
        await moveTo(folderOf(layout, place), { folder, files: written, isWhole: place.kind === 'violation' });
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

/** A violation gets the folder as it is, in one step; a tow's folder gets the files, beside those it has. */
async function moveTo(
  target: string,
  from: { folder: string; files: readonly string[]; isWhole: boolean },
): Promise<void> {
  if (from.isWhole) {
    await ensureFolder(dirname(target));
    await rename(from.folder, target);
    await syncFolder(dirname(target));
  } else {
    await ensureFolder(target);
    for (const file of from.files) await rename(join(from.folder, file), join(target, file));
    await syncFolder(target);
    await rm(from.folder, { recursive: true, force: true });
  }
}

/** Streams one file to the disk, one piece in memory at a time, and reads back what kind of image it is. */
async function writeFile(path: string, file: string, bytes: AsyncIterable<Uint8Array>): Promise<SpooledFile> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const handle = await open(path, 'wx+', FILE_MODE);
  try {
    for await (const piece of bytes) {
      hash.update(piece);
      sizeBytes += piece.length;
      await handle.appendFile(piece);
    }
    await handle.sync();
    return { file, sizeBytes, sha256: hash.digest('hex'), contentType: await imageTypeOf(handle, sizeBytes) };
  } finally {
    await handle.close();
  }
}

/** What cannot be removed now is swept later. */
async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch(() => {});
}
