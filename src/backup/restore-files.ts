import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { archiveFolder } from '../archive/files';
import { countBatches } from '../archive/read';
import { BackupProblem, type Finding, notesOf } from '../cli';
import { type BackupManifest, backupManifest, MANIFEST } from '../contracts/ops/backup';
import { layoutOf } from '../spool/folders';
import { bytesOf, sizeAndHashOf, sizeOf, writeFileTo } from './files';
import { jsonIn } from '../domain/json';
import { errorCode } from '../platform/errors';

const BELOW_DATA = 'data/';

export interface RestoredFiles {
  readonly manifest: BackupManifest;
  readonly dataDir: string;
  readonly skipsMissing: boolean;
}

/**
 * Copies the files of a backup into DATA_DIR. Files that are there stay: images never change, so one that is there and
 * not shorter is whole; the archive only grows by batches, so a file with as many batches has all that the backup has.
 * With `skipsMissing`, files that the backup lacks are left out: the verification has reported them.
 *
 * @throws BackupProblem when DATA_DIR is the disk of another installation, or may be.
 */
export async function restoreFiles(folder: string, { manifest, dataDir, skipsMissing }: RestoredFiles): Promise<void> {
  const [here, there] = await Promise.all([markerOf(dataDir), markerOf(join(folder, BELOW_DATA))]);
  if (here !== null && here !== there) {
    // A backup from before the first image names no disk, so this one may be its own.
    throw there === null
      ? new BackupProblem(
          'disk_foreign',
          'DATA_DIR has been in use, and the backup is from before its disk had an image: nothing was restored.',
          'Set DATA_DIR to an empty folder.',
        )
      : new BackupProblem(
          'disk_foreign',
          'DATA_DIR is the disk of another installation: nothing was restored.',
          'Set DATA_DIR to the disk that was backed up, or to an empty folder.',
        );
  }
  for (const { path, bytes } of manifest.files) {
    if (!path.startsWith(BELOW_DATA)) continue;
    const below = path.slice(BELOW_DATA.length);
    const [copy, present] = [join(folder, path), resolve(dataDir, below)];
    if (skipsMissing && (await sizeOf(copy)) === null) continue;
    const isWhole =
      dirname(present) === resolve(archiveFolder(dataDir)) ? hasBatchesOf(copy, present) : isNotShorter(present, bytes);
    if (!(await isWhole)) await writeFileTo(dataDir, below, bytesOf(copy));
  }
}

async function isNotShorter(present: string, bytes: number): Promise<boolean> {
  const size = await sizeOf(present);
  return size !== null && size >= bytes;
}

/** Under another data key a file of the archive has another length and the same batches. */
async function hasBatchesOf(copy: string, present: string): Promise<boolean> {
  if ((await sizeOf(present)) === null) return false;
  const batchesIn = (path: string) => countBatches({ name: basename(path), path });
  return (await batchesIn(present)) >= (await batchesIn(copy));
}

/** The id of a disk; null on a disk that was never used. */
async function markerOf(dataDir: string): Promise<string | null> {
  return readFile(layoutOf(dataDir).marker, 'utf8').then(
    (id) => id.trim(),
    () => null,
  );
}

/** Reads what a backup contains. @throws BackupProblem for a folder that is no complete backup, or cannot be read. */
export async function readManifest(folder: string): Promise<BackupManifest> {
  const text = await readFile(join(folder, MANIFEST), 'utf8').catch((error: unknown) => nullIfMissing(error, folder));
  if (text === null) {
    throw new BackupProblem('no_backup', `${folder} is no complete backup: it has no ${MANIFEST}.`);
  }
  const manifest = backupManifest.safeParse(jsonIn(text));
  if (manifest.success) return manifest.data;
  throw new BackupProblem('manifest_broken', `The ${MANIFEST} of ${folder} cannot be read by this version.`);
}

/** An error that does not mean "missing" says nothing about whether the backup is complete. */
function nullIfMissing(error: unknown, folder: string): null {
  const code = errorCode(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return null;
  throw new BackupProblem(
    'backup_unreadable',
    `The ${MANIFEST} of ${folder} cannot be read (${code ?? 'failed'}).`,
    'Run the command as the user who made the backup, and check the disk with the backup.',
  );
}

/** Compares all files of a backup with their sizes and hashes in the manifest. */
export async function checkFiles(folder: string, { files }: BackupManifest): Promise<Finding> {
  const notes = notesOf('files');
  const changed: string[] = [];
  for (const { path, bytes, sha256 } of files) {
    const found = await sizeAndHashOf(bytesOf(join(folder, path)));
    if (found?.bytes !== bytes || found.sha256 !== sha256) changed.push(path);
  }
  const [first] = changed;
  if (first === undefined) return notes.fine('unchanged', `${files.length} files are as they were written`);
  // Names of folders contain references: only their number is shown.
  return notes.fault(
    'changed',
    `${changed.length} of ${files.length} files are missing or changed`,
    'Use another copy of this backup, or an earlier one.',
  );
}
