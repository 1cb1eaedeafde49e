import { link, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../platform/errors';
import type { SpoolState } from '../workflow/spool-port';
import { ensureFolder, type SpoolLayout } from './folders';
import { FILE_MODE, syncFolder } from '../platform/folders';

/** The id of the shared disk, in a store that all processes share. Methods reject while the store is away. */
export interface SharedMarker {
  read(): Promise<string | null>;
  /**
   * Stores this id unless another one is stored, and returns the stored id. With `alarmMs` (Unix ms) it raises the
   * alarm in the same step, because the disk was in use before.
   */
  claim(id: string, options: { alarmMs: number | null }): Promise<string>;
  /** When the alarm was raised, Unix ms; null when it was not. */
  alarmMs(): Promise<number | null>;
}

/**
 * Whether the disk of this process is the shared one: its marker file has the same id as the store. The first process
 * writes both, the file first. If it ends in between, the next process claims the id of the file. Rejects when the
 * store cannot be read.
 */
export async function spoolState(
  layout: SpoolLayout,
  tools: { marker: SharedMarker; newId: () => string; nowMs: () => number },
): Promise<SpoolState> {
  const first = await reading(layout);
  if (first === 'unusable') return 'unusable';
  const shared = await tools.marker.read();
  // Another process may have written both since: the file exists before the id is shared.
  const onDisk = first.id === null && shared !== null ? await reading(layout) : first;
  if (onDisk === 'unusable') return 'unusable';
  if (onDisk.id === null && shared !== null) return 'foreign';
  if (onDisk.id !== null && shared !== null) return onDisk.id === shared ? writability(layout, tools) : 'foreign';
  const id = onDisk.id ?? (await written(layout, tools.newId()));
  if (id === null) return 'unusable';
  const alarmMs = (await wasInUse(layout)) ? tools.nowMs() : null;
  return (await tools.marker.claim(id, { alarmMs })) === id ? writability(layout, tools) : 'foreign';
}

/** Whether the disk has the id of the shared one, even if it cannot be written. Rejects when the store cannot be read. */
export async function hasSharedMarker(layout: SpoolLayout, marker: Pick<SharedMarker, 'read'>): Promise<boolean> {
  const onDisk = await reading(layout);
  return onDisk !== 'unusable' && onDisk.id !== null && onDisk.id === (await marker.read());
}

/** Whether a Redis with records has claimed the disk, or it has images or an archive. An empty folder does not count. */
export async function wasInUse({ claimed, violations, photos, archive }: SpoolLayout): Promise<boolean> {
  const isNotEmpty = (folder: string) => readdir(folder).then(({ length }) => length > 0, isThere);
  const found = await Promise.all([
    stat(claimed).then(() => true, isThere),
    ...[violations, photos, archive].map(isNotEmpty),
  ]);
  return found.includes(true);
}

/** A failing disk is no proof that it was never used. */
function isThere(error: unknown): boolean {
  return errorCode(error) !== 'ENOENT';
}

async function reading({ marker }: SpoolLayout): Promise<{ id: string | null } | 'unusable'> {
  try {
    const id = (await readFile(marker, 'utf8')).trim();
    return id === '' ? 'unusable' : { id };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { id: null } : 'unusable';
  }
}

/** Writes an id to the disk unless one exists; returns the existing id, null when the disk cannot be written. */
async function written(layout: SpoolLayout, id: string): Promise<string | null> {
  const draft = `${layout.marker}.${id}`;
  try {
    await ensureFolder(layout.spool);
    await writeFile(draft, `${id}\n`, { mode: FILE_MODE, flag: 'wx', flush: true });
    await putInPlace(draft, layout.marker);
    await syncFolder(layout.spool);
  } catch {
    return null;
  }
  const now = await reading(layout);
  return now === 'unusable' ? null : now.id;
}

/** The first id stays. On a disk without hard links the last one stays, which is safe before an id is claimed. */
async function putInPlace(draft: string, marker: string): Promise<void> {
  try {
    await link(draft, marker);
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') return rename(draft, marker);
  }
  await unlink(draft);
}

/** Called after the claim has succeeded: before that, Redis had no record of this disk. */
async function noteClaimed({ claimed }: SpoolLayout): Promise<void> {
  try {
    await writeFile(claimed, '', { mode: FILE_MODE, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  }
}

/** A probe finds a full or read-only disk before an upload does. */
async function writability(layout: SpoolLayout, tools: { newId: () => string }): Promise<'shared' | 'unusable'> {
  const probe = join(layout.spool, `probe.${tools.newId()}`);
  try {
    await writeFile(probe, 'probe', { mode: FILE_MODE, flag: 'wx' });
    await unlink(probe);
    await noteClaimed(layout);
    return 'shared';
  } catch {
    await unlink(probe).catch(() => {});
    return 'unusable';
  }
}
