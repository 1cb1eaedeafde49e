import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../platform/system-error';

/** Where the archive lies: one file per Riyadh day and writer, `DATA_DIR/archive/<date>.<epoch>.ndjson.gz`. */

const NAME = /^(\d{4}-\d{2}-\d{2})\.(\d+)\.ndjson\.gz$/;

/** A file of the archive. */
export interface ArchiveFile {
  readonly name: string;
  readonly path: string;
  /** The day of Asia/Riyadh on which its records were archived, YYYY-MM-DD. */
  readonly date: string;
  /** The fencing number of its one writer; whoever wrote later has a higher one. */
  readonly epoch: number;
}

/** The first and the last day to look at, YYYY-MM-DD; both are looked at too. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** The folder of the archive under DATA_DIR. */
export function archiveFolder(dataDir: string): string {
  return join(dataDir, 'archive');
}

/** The name of the file that the writer of an epoch fills on a day. */
export function archiveFileName(date: string, epoch: number): string {
  return `${date}.${epoch}.ndjson.gz`;
}

/** The files of the archive in the order they were written; none when nothing was archived yet. */
export async function archiveFiles(dataDir: string, { from, to }: Days = {}): Promise<ArchiveFile[]> {
  const folder = archiveFolder(dataDir);
  const names = await readdir(folder).catch(noneIfAbsent);
  return names
    .flatMap((name) => {
      const [, date, epoch] = NAME.exec(name) ?? [];
      if (date === undefined || epoch === undefined) return [];
      return [{ name, path: join(folder, name), date, epoch: Number(epoch) }];
    })
    .filter(({ date }) => (from === undefined || date >= from) && (to === undefined || date <= to))
    .toSorted((a, b) => a.date.localeCompare(b.date) || a.epoch - b.epoch);
}

function noneIfAbsent(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return [];
  throw error;
}
