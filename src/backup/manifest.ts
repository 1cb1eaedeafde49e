import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BackupProblem, notesOf, type Finding } from '../cli';
import { backupManifest, MANIFEST, type BackupManifest } from '../contracts/ops/backup';
import { jsonIn } from '../domain/json';
import { errorCode } from '../platform/errors';
import { bytesOf, sizeAndHashOf } from './files';

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
