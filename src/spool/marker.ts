import { link, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../platform/system-error';
import type { SpoolState } from '../workflow/spool-port';
import { ensureFolder, FILE_MODE, syncFolder, type Layout } from './folders';

/** The id of the one disk in use, as all processes know it. All reject while that cannot be told. */
export interface SharedMarker {
  read(): Promise<string | null>;
  /**
   * Makes this the id of the disk in use, unless there is one. Returns the one that counts. With `alarmMs`, Unix ms, the
   * same step raises the alarm: the disk was in use before.
   */
  claim(id: string, options: { alarmMs: number | null }): Promise<string>;
  /** When the alarm was raised, Unix ms; null when it was not. */
  alarmMs(): Promise<number | null>;
}

/**
 * Whether the disk of this process is the one in use: a file on it holds the same id as the shared store. The first
 * process writes both, the file first: if it ends in between, the next one finds the file and claims its id.
 * Rejects when the shared store cannot be asked.
 */
export async function spoolState(
  layout: Layout,
  tools: { marker: SharedMarker; newId: () => string; nowMs: () => number },
): Promise<SpoolState> {
  const first = await reading(layout);
  if (first === 'unusable') return 'unusable';
  const shared = await tools.marker.read();
  // Another process may have written both since: the file is there before the id is shared.
  const onDisk = first.id === null && shared !== null ? await reading(layout) : first;
  if (onDisk === 'unusable') return 'unusable';
  if (onDisk.id === null && shared !== null) return 'foreign';
  if (onDisk.id !== null && shared !== null) return onDisk.id === shared ? writability(layout, tools) : 'foreign';
  const id = onDisk.id ?? (await written(layout, tools.newId()));
  if (id === null) return 'unusable';
  const alarmMs = (await wasInUse(layout)) ? tools.nowMs() : null;
  return (await tools.marker.claim(id, { alarmMs })) === id ? writability(layout, tools) : 'foreign';
}

/** Whether images were ever kept on the disk: their folders stay when the last of them has gone. */
export async function wasInUse({ violations, photos }: Layout): Promise<boolean> {
  const found = await Promise.all([violations, photos].map((folder) => stat(folder).then(() => true, isThere)));
  return found.includes(true);
}

/** A disk that fails does not show that nothing was kept on it. */
function isThere(error: unknown): boolean {
  return codeOf(error) !== 'ENOENT';
}

async function reading({ marker }: Layout): Promise<{ id: string | null } | 'unusable'> {
  try {
    const id = (await readFile(marker, 'utf8')).trim();
    return id === '' ? 'unusable' : { id };
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? { id: null } : 'unusable';
  }
}

/** Puts an id on the disk unless one is there; returns the one that is there then, null when nothing can be written. */
async function written(layout: Layout, id: string): Promise<string | null> {
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

/** The first one stays. Where a disk knows no links the last one stays, which is as good before anybody has claimed it. */
async function putInPlace(draft: string, marker: string): Promise<void> {
  try {
    await link(draft, marker);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') return rename(draft, marker);
  }
  await unlink(draft);
}

/** A disk that is full or was mounted read-only is found out before somebody's images are. */
async function writability(layout: Layout, tools: { newId: () => string }): Promise<'shared' | 'unusable'> {
  const probe = join(layout.spool, `probe.${tools.newId()}`);
  try {
    await writeFile(probe, 'probe', { mode: FILE_MODE, flag: 'wx' });
    await unlink(probe);
    return 'shared';
  } catch {
    await unlink(probe).catch(() => {});
    return 'unusable';
  }
}
