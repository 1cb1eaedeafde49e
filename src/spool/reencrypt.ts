import { readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import { EncryptedFileUnusable, storedForm } from '../platform/encrypted-file';
import { moveFile, syncFolder, writeNewFile } from '../platform/folders';
import { layoutOf, type SpoolLayout } from './folders';
import { isAbsence, plainPieces, storedPieces } from './stored-image';

/** Encrypts the images on the disk under the first key, beside the running processes. */

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

/** The ids of the keys that the images are encrypted under, one for each image; null for a plain one. */
export async function* imageKeys(dataDir: string): AsyncGenerator<string | null> {
  for await (const path of imagesOn(layoutOf(dataDir))) {
    const form = await storedForm(path).catch(noneIfAbsent);
    if (form) yield form.keyId;
  }
}

/**
 * Encrypts each image that is plain or under another key. One that cannot be decrypted stays as it is. May be ended and
 * repeated at any time; `onStep` is called for each image.
 */
export async function reencryptImages(
  dataDir: string,
  { keys, clock, onStep }: { readonly keys: DataKeys; readonly clock: Pick<Clock, 'id'>; readonly onStep: () => void },
): Promise<void> {
  const layout = layoutOf(dataDir);
  for await (const path of imagesOn(layout)) {
    // Beside the marker, where the sweep removes what an ended process left.
    const draft = join(layout.spool, `draft.${clock.id()}`);
    try {
      await reencryptImage(path, draft, keys);
    } catch (error) {
      // It was removed meanwhile.
      if (!(error instanceof EncryptedFileUnusable)) noneIfAbsent(error);
    } finally {
      await rm(draft, { force: true });
    }
    onStep();
  }
}

async function reencryptImage(path: string, draft: string, keys: DataKeys): Promise<void> {
  if ((await storedForm(path)).keyId === keys.first) return;
  await writeNewFile(draft, storedPieces(plainPieces(path, keys), path, keys), await stat(path));
  await stat(path);
  await moveFile(draft, path);
  await syncFolder(dirname(path));
}

function noneIfAbsent(error: unknown): null {
  if (isAbsence(error)) return null;
  throw error;
}
