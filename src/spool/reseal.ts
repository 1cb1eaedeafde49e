import { open, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { FILE_MODE, moveFile, syncFolder } from '../platform/folders';
import { SealedFileUnusable, storedForm, storedPieces } from '../platform/sealed-file';
import { layoutOf, type SpoolLayout } from './folders';
import { imagePieces, imageSeal, isAbsence } from './stored-image';

/** Seals the images on the disk under the first key, beside the running processes. */

/** The images of a disk: of violations, of tows, and those without a record. */
async function* imagesOn({ violations, photos, orphans }: SpoolLayout): AsyncGenerator<string> {
  for (const above of [violations, photos, orphans]) {
    for (const owner of (await readdir(above).catch(noneIfAbsent)) ?? []) {
      const folder = join(above, owner);
      const entries = (await readdir(folder, { withFileTypes: true }).catch(noneIfAbsent)) ?? [];
      for (const entry of entries) if (entry.isFile()) yield join(folder, entry.name);
    }
  }
}

/** The ids of the keys that the images are sealed under, one for each image; null for a plain one. */
export async function* imageKeys(dataDir: string): AsyncGenerator<string | null> {
  for await (const path of imagesOn(layoutOf(dataDir))) {
    const form = await storedForm(path).catch(noneIfAbsent);
    if (form) yield form.keyId;
  }
}

/**
 * Seals each image that is plain or sealed under another key. One that cannot be opened stays as it is. May be ended and
 * repeated at any time; `onImage` is called for each image.
 */
export async function resealImages(
  dataDir: string,
  { keys, clock, onImage }: { readonly keys: DataKeys; readonly clock: Clock; readonly onImage: () => void },
): Promise<void> {
  const layout = layoutOf(dataDir);
  for await (const path of imagesOn(layout)) {
    // Beside the marker, where the sweep removes what an ended process left.
    const draft = join(layout.spool, `reseal.${clock.id()}`);
    try {
      await resealImage(path, draft, keys);
    } catch (error) {
      // It was removed meanwhile.
      if (!(error instanceof SealedFileUnusable)) noneIfAbsent(error);
    } finally {
      await rm(draft, { force: true });
    }
    onImage();
  }
}

async function resealImage(path: string, draft: string, keys: DataKeys): Promise<void> {
  if ((await storedForm(path)).keyId === keys.first) return;
  const handle = await open(draft, 'wx', FILE_MODE);
  try {
    const pieces = storedPieces(imagePieces(path, keys), imageSeal(keys, path));
    for await (const piece of pieces) await handle.appendFile(piece);
    const { uid, gid } = await stat(path);
    // The roles may run as another user than this command.
    if ((await handle.stat()).uid !== uid) await handle.chown(uid, gid);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await stat(path);
  await moveFile(draft, path);
  await syncFolder(dirname(path));
}

function noneIfAbsent(error: unknown): null {
  if (isAbsence(error)) return null;
  throw error;
}
