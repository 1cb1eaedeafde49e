import { opendir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { HOUR_MS } from '../domain/timestamp';
import { errorCode, nullIfAbsent } from '../platform/errors';
import { ensureFolder, referenceOf, type SpoolLayout } from './folders';
import { moveFile, syncFolder } from '../platform/folders';

/** An upload that takes longer may be swept before it is complete. The listener of the console ends it before. */
export const INCOMING_MAX_MS = HOUR_MS;
/** Long enough for a process that died before it wrote the record, and short enough that disks do not fill up. */
export const UNRECORDED_MAX_MS = 24 * HOUR_MS;

/** A folder of photos that did not change for this long was checked often enough. */
const PHOTOS_LOOK_MAX_MS = 7 * 24 * HOUR_MS;

/** The records that refer to files on the disk. */
export interface SpoolReferences {
  /** Whether the violation exists, even if this version cannot read it. */
  violation(id: string): Promise<boolean>;
  /** The files of a tow's photos; null when the tow is not in Redis or cannot be read, then its photos stay. */
  photosOf(towingReference: string): Promise<readonly string[] | null>;
}

/** Removes uploads of processes that ended before they kept them. Returns the number of uploads. */
export async function sweepUploads(layout: SpoolLayout, nowMs: number): Promise<number> {
  const uploads = await oldFolders(layout.incoming, nowMs - INCOMING_MAX_MS);
  for (const name of uploads) await rm(join(layout.incoming, name), { recursive: true, force: true });
  await removeProbes(layout, nowMs - INCOMING_MAX_MS);
  return uploads.length;
}

export interface OrphanTools {
  readonly nowMs: number;
  /** After how long images without a violation are moved. */
  readonly orphanAfterMs: number;
  readonly named: SpoolReferences;
}

/** Numbers of moved violations and photos. */
export interface Moved {
  readonly violations: number;
  readonly photos: number;
}

/**
 * Moves images without a record to the folder of orphans: images of unknown violations, photos that their tow does not
 * list. Nothing is deleted, because Redis may have lost the record.
 */
export async function moveOrphans(layout: SpoolLayout, tools: OrphanTools): Promise<Moved> {
  let violations = 0;
  for (const name of await oldFolders(layout.violations, tools.nowMs - tools.orphanAfterMs)) {
    const id = referenceOf(name);
    if (id === null || (await tools.named.violation(id))) continue;
    if (await moveTo(layout.orphans, join(layout.violations, name))) violations += 1;
  }
  return { violations, photos: await movePhotos(layout, tools) };
}

/** Moves photos of processes that ended before their tow listed them. */
async function movePhotos(layout: SpoolLayout, tools: OrphanTools): Promise<number> {
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

/** Moves a folder or file into `target`, with a number behind its name if that is taken; false when it is gone. */
async function moveTo(target: string, path: string): Promise<boolean> {
  await ensureFolder(target);
  let to = join(target, basename(path));
  for (let number = 2; await isTaken(to); number += 1) to = join(target, `${basename(path)}.${number}`);
  try {
    await moveFile(path, to);
  } catch (error) {
    // Another console sweeps the same disk.
    if (errorCode(error) === 'ENOENT') return false;
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

/** Removes drafts and probes of processes that ended while writing them. */
async function removeProbes(layout: SpoolLayout, beforeMs: number): Promise<void> {
  for (const folder of [layout.spool, layout.violations]) {
    const left = (await oldFolders(folder, beforeMs)).filter((name) => /^(probe|marker|draft)\./.test(name));
    for (const name of left) await rm(join(folder, name), { force: true });
  }
}

/** Limits parallel calls: there is one folder per tow that ever had photos. */
const STATS_AT_ONCE = 32;

/**
 * The names in a folder that were last modified before a time, without those that `isLeftOut` excludes by that time.
 */
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

/** The names in a folder, read incrementally; none when it does not exist. */
async function* namesIn(folder: string): AsyncGenerator<string> {
  const opened = await opendir(folder).catch(nullIfAbsent);
  if (!opened) return;
  for await (const { name } of opened) yield name;
}

function touchedMsOf(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}
