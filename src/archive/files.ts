import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { nullIfAbsent } from '../platform/errors';

/** The files of the archive: one per Riyadh day and writer, `DATA_DIR/archive/<date>.<epoch>.ndjson.gz`. */

const NAME = /^(\d{4}-\d{2}-\d{2})\.(\d+)\.ndjson\.gz$/;

export interface ArchiveFile {
  readonly name: string;
  readonly path: string;
  /** The day in Asia/Riyadh on which its records were archived, YYYY-MM-DD. */
  readonly date: string;
  /** The fencing number of its writer; later writers have higher ones. */
  readonly epoch: number;
}

/** The first and the last day, inclusive, YYYY-MM-DD. */
export interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

export function archiveFolder(dataDir: string): string {
  return join(dataDir, 'archive');
}

/** The file name for a day and the epoch of a writer. */
export function archiveFileName(date: string, epoch: number): string {
  return `${date}.${epoch}.ndjson.gz`;
}

/** The files of the archive in the order they were written; empty when nothing was archived yet. */
export async function archiveFiles(dataDir: string, { from, to }: Days = {}): Promise<ArchiveFile[]> {
  const folder = archiveFolder(dataDir);
  const names = (await readdir(folder).catch(nullIfAbsent)) ?? [];
  return names
    .flatMap((name) => {
      const [, date, epoch] = NAME.exec(name) ?? [];
      if (date === undefined || epoch === undefined) return [];
      return [{ name, path: join(folder, name), date, epoch: Number(epoch) }];
    })
    .filter(({ date }) => (from === undefined || date >= from) && (to === undefined || date <= to))
    .toSorted((a, b) => a.date.localeCompare(b.date) || a.epoch - b.epoch);
}

/** The size of all files of the archive. One file at a time, so that a hanging disk holds one thread of Node. */
export async function archiveBytes(dataDir: string): Promise<number> {
  let bytes = 0;
  for (const { path } of await archiveFiles(dataDir)) bytes += (await stat(path)).size;
  return bytes;
}
