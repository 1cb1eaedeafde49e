import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupProblem } from '../cli';
import type { BackupManifest } from '../contracts/backup';
import { layoutOf } from '../spool/folders';
import { bytesOf, sizeOf, writeFileTo } from './files';

const BELOW_DATA = 'data/';

/**
 * Copies the files of a backup into DATA_DIR. Files that are there stay: images never change and the archive only
 * grows, so a file that is there and not shorter has all that the backup has.
 *
 * @throws BackupProblem when DATA_DIR is the disk of another installation.
 */
export async function restoreFiles(
  folder: string,
  { manifest, dataDir }: { readonly manifest: BackupManifest; readonly dataDir: string },
): Promise<void> {
  const [here, there] = await Promise.all([markerOf(dataDir), markerOf(join(folder, BELOW_DATA))]);
  if (here !== null && here !== there) {
    throw new BackupProblem(
      'disk_foreign',
      'DATA_DIR is the disk of another installation: nothing was restored.',
      'Set DATA_DIR to the disk that was backed up, or to an empty folder.',
    );
  }
  for (const { path, bytes } of manifest.files) {
    if (!path.startsWith(BELOW_DATA)) continue;
    const below = path.slice(BELOW_DATA.length);
    const present = await sizeOf(join(dataDir, below));
    if (present === null || present < bytes) await writeFileTo(dataDir, below, bytesOf(join(folder, path)));
  }
}

/** The id of a disk; null on a disk that was never used. */
async function markerOf(dataDir: string): Promise<string | null> {
  return readFile(layoutOf(dataDir).marker, 'utf8').then(
    (id) => id.trim(),
    () => null,
  );
}
