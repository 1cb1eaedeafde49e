import { link, readdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { diskSpace, FILE_MODE, syncFolder } from '../platform/folders';
import { errorCode } from '../platform/errors';
import type { SpoolState } from '../workflow/ops/spool-port';
import { ensureFolder, type SpoolLayout } from './folders';

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

/** How the names of files begin that try the disk. */
const PROBE = 'probe.';

/** The state of a disk; `problem` names the cause where one is known. */
export interface SpoolCheck {
  readonly state: SpoolState;
  readonly problem: string | null;
}

const FOREIGN: SpoolCheck = { state: 'foreign', problem: null };

interface DiskProbeTools {
  readonly newId: () => string;
  /** Fewer free bytes make the disk unusable. */
  readonly minFreeBytes: number;
}

/**
 * Whether the disk of this process is the shared one: its marker file has the same id as the store. The first process
 * writes both, the file first. If it ends in between, the next process claims the id of the file. Rejects when the
 * store cannot be read.
 */
export async function spoolState(
  layout: SpoolLayout,
  tools: DiskProbeTools & { marker: SharedMarker; nowMs: () => number },
): Promise<SpoolCheck> {
  const first = await reading(layout);
  if ('state' in first) return first;
  const shared = await tools.marker.read();
  // Another process may have written both since: the file exists before the id is shared.
  const onDisk = first.id === null && shared !== null ? await reading(layout) : first;
  if ('state' in onDisk) return onDisk;
  if (onDisk.id === null && shared !== null) return FOREIGN;
  if (onDisk.id !== null && shared !== null) return onDisk.id === shared ? writability(layout, tools) : FOREIGN;
  const marked = onDisk.id === null ? await written(layout, tools.newId()) : onDisk;
  if ('state' in marked) return marked;
  const { id } = marked;
  if (id === null) return unusable('ENOENT');
  const alarmMs = (await wasInUse(layout)) ? tools.nowMs() : null;
  return (await tools.marker.claim(id, { alarmMs })) === id ? writability(layout, tools) : FOREIGN;
}

/** Whether the disk has the id of the shared one, even if it cannot be written. Rejects when the store cannot be read. */
export async function hasSharedMarker(layout: SpoolLayout, marker: Pick<SharedMarker, 'read'>): Promise<boolean> {
  const onDisk = await reading(layout);
  return 'id' in onDisk && onDisk.id !== null && onDisk.id === (await marker.read());
}

/** Whether a Redis with records has claimed the disk, or it has images or an archive. An empty folder does not count. */
export async function wasInUse({ claimed, violations, photos, archive }: SpoolLayout): Promise<boolean> {
  const isNotEmpty = (folder: string) =>
    readdir(folder).then((names) => names.some((name) => !name.startsWith(PROBE)), isThere);
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

/** The id on the disk; null without one. */
async function reading({ marker }: SpoolLayout): Promise<{ readonly id: string | null } | SpoolCheck> {
  try {
    const id = (await readFile(marker, 'utf8')).trim();
    return id === '' ? unusable('the file marker is empty') : { id };
  } catch (error) {
    return errorCode(error) === 'ENOENT' ? { id: null } : unusable(errorCode(error));
  }
}

/** Writes an id to the disk unless one exists; returns the id that is there. */
async function written(layout: SpoolLayout, id: string): ReturnType<typeof reading> {
  const draft = `${layout.marker}.${id}`;
  try {
    await ensureFolder(layout.spool);
    await writeFile(draft, `${id}\n`, { mode: FILE_MODE, flag: 'wx', flush: true });
    await putInPlace(draft, layout.marker);
    await syncFolder(layout.spool);
  } catch (error) {
    return unusable(errorCode(error));
  }
  return reading(layout);
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

/** A probe takes the way of an upload: it finds a full or read-only disk before an upload does, and folders on two volumes. */
async function writability(layout: SpoolLayout, tools: DiskProbeTools): Promise<SpoolCheck> {
  const name = `${PROBE}${tools.newId()}`;
  const [[first = layout.spool], targets] = await Promise.all([
    foldersIn([layout.incoming]),
    foldersIn([layout.violations]),
  ]);
  let probe = join(first, name);
  try {
    await writeFile(probe, 'probe', { mode: FILE_MODE, flag: 'wx' });
    for (const folder of targets) {
      await rename(probe, join(folder, name));
      probe = join(folder, name);
    }
    await unlink(probe);
    await noteClaimed(layout);
    const { freeBytes } = await diskSpace(layout.spool);
    return freeBytes < tools.minFreeBytes ? tooLittleSpace(freeBytes) : { state: 'shared', problem: null };
  } catch (error) {
    await unlink(probe).catch(() => {});
    return errorCode(error) === 'EXDEV' ? TWO_VOLUMES : unusable(errorCode(error));
  }
}

/** Those that exist: without one, the upload creates it beside the others. */
async function foldersIn(paths: readonly string[]): Promise<string[]> {
  const found = paths.map((path) =>
    stat(path).then(
      () => [path],
      () => [],
    ),
  );
  return (await Promise.all(found)).flat();
}

/** `why` is the code of the error. */
function unusable(why: string | null): SpoolCheck {
  const problem = 'images cannot be written to DATA_DIR/spool';
  return { state: 'unusable', problem: why === null ? problem : `${problem} (${why})` };
}

function tooLittleSpace(freeBytes: number): SpoolCheck {
  const problem = `only ${freeBytes} bytes are free on the disk of DATA_DIR/spool, fewer than IMAGES_TOTAL_BYTES_MAX`;
  return { state: 'unusable', problem };
}

const TWO_VOLUMES: SpoolCheck = {
  state: 'unusable',
  problem: 'DATA_DIR/spool must be on one volume: a folder in it, such as violations, is on another',
};
