import { opendir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../platform/system-error';
import { ensureFolder, referenceOf, syncFolder, type Layout } from './folders';

const HOUR_MS = 3_600_000;
/** No upload takes this long: the listener ends a request after two minutes. */
const INCOMING_MAX_MS = HOUR_MS;
/** Long after a process that died between keeping files and writing their record, and long before disks fill up. */
export const UNRECORDED_MAX_MS = 24 * HOUR_MS;

/** A folder of photos that nobody has added to for so long was looked through often enough. */
const PHOTOS_LOOK_MAX_MS = 7 * 24 * HOUR_MS;

/** What names the files on the disk. */
export interface Named {
  /** Whether a violation of this id is known. */
  violation(id: string): Promise<boolean>;
  /** The files of a tow's photos; null when there is no such tow here any more: its photos stay. */
  photosOf(towingReference: string): Promise<readonly string[] | null>;
}

/** Removes what processes that ended in the middle left of uploads that nothing ever named. Returns how many. */
export async function sweepUploads(layout: Layout, nowMs: number): Promise<number> {
  const uploads = await oldFolders(layout.incoming, nowMs - INCOMING_MAX_MS);
  for (const name of uploads) await rm(join(layout.incoming, name), { recursive: true, force: true });
  await removeProbes(layout, nowMs - INCOMING_MAX_MS);
  return uploads.length;
}

export interface OrphanTools {
  readonly nowMs: number;
  /** After how long images of an unknown violation are moved. */
  readonly orphanAfterMs: number;
  readonly named: Named;
}

/** How many violations' images and how many photos were moved. */
export interface Moved {
  readonly violations: number;
  readonly photos: number;
}

/**
 * Moves images that no record names to the folder of orphans: images of no violation, photos that their tow does not name.
 * Nothing is removed: a record may be missing because Redis lost it.
 */
export async function moveOrphans(layout: Layout, tools: OrphanTools): Promise<Moved> {
  let violations = 0;
  for (const name of await oldFolders(layout.violations, tools.nowMs - tools.orphanAfterMs)) {
    const id = referenceOf(name);
    if (id === null || (await tools.named.violation(id))) continue;
    if (await moveTo(layout.orphans, join(layout.violations, name))) violations += 1;
  }
  return { violations, photos: await movePhotos(layout, tools) };
}

/** Photos that were kept by a process that ended before their tow named them. */
async function movePhotos(layout: Layout, tools: OrphanTools): Promise<number> {
  let photos = 0;
  const isQuiet = (touchedMs: number) => touchedMs < tools.nowMs - PHOTOS_LOOK_MAX_MS;
  for (const name of await oldFolders(layout.photos, tools.nowMs - UNRECORDED_MAX_MS, isQuiet)) {
    const reference = referenceOf(name);
    if (reference === null) continue;
    const named = await tools.named.photosOf(reference);
    if (named === null) continue;
    const folder = join(layout.photos, name);
    for (const file of await oldFolders(folder, tools.nowMs - UNRECORDED_MAX_MS)) {
      if (named.includes(file)) continue;
      if (await moveTo(join(layout.orphans, `photos.${name}`), join(folder, file))) photos += 1;
    }
  }
  return photos;
}

/** Moves a folder or file below `target`, under its own name or with a number behind; false when it has gone meanwhile. */
async function moveTo(target: string, path: string): Promise<boolean> {
  await ensureFolder(target);
  let to = join(target, basename(path));
  for (let number = 2; await isTaken(to); number += 1) to = join(target, `${basename(path)}.${number}`);
  try {
    await rename(path, to);
  } catch (error) {
    // Another console sweeps the same disk.
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
  await syncFolder(target);
  await syncFolder(dirname(path));
  return true;
}

function isTaken(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Drafts of the marker and probes of processes that ended right then. */
async function removeProbes(layout: Layout, beforeMs: number): Promise<void> {
  const left = (await oldFolders(layout.spool, beforeMs)).filter((name) => /^(probe|marker)\./.test(name));
  for (const name of left) await rm(join(layout.spool, name), { force: true });
}

/** Looked at together: the folder of photos has one folder for each tow that ever had any. */
const STATS_AT_ONCE = 32;

/** The names in a folder that were last touched before a moment, but for those that are left out by when that was. */
async function oldFolders(
  folder: string,
  beforeMs: number,
  isLeftOut: (touchedMs: number) => boolean = () => false,
): Promise<string[]> {
  const old: string[] = [];
  const look = async (names: readonly string[]) => {
    const touched = await Promise.all(names.map((name) => touchedMsOf(join(folder, name))));
    old.push(
      ...names.filter((_, at) => {
        const touchedMs = touched[at] ?? null;
        return touchedMs !== null && touchedMs < beforeMs && !isLeftOut(touchedMs);
      }),
    );
  };
  let batch: string[] = [];
  for await (const name of namesIn(folder)) {
    batch.push(name);
    if (batch.length < STATS_AT_ONCE) continue;
    await look(batch);
    batch = [];
  }
  await look(batch);
  return old;
}

/** The names in a folder, read little by little; none when it is absent. */
async function* namesIn(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder).catch(noneIfAbsent);
  if (!opened) return;
  for await (const { name } of opened) yield name;
}

function touchedMsOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}

function noneIfAbsent(error: unknown): null {
  if (codeOf(error) === 'ENOENT') return null;
  throw error;
}
