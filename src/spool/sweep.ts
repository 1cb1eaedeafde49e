import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../platform/system-error';
import { referenceOf, type Layout } from './folders';

const HOUR_MS = 3_600_000;
/** No upload takes this long: the listener ends a request after five minutes. */
const INCOMING_MAX_MS = HOUR_MS;
/** Long after a process that died between keeping files and writing their record, and long before disks fill up. */
const UNRECORDED_MAX_MS = 24 * HOUR_MS;

/** A folder of photos that nobody has added to for so long was looked through often enough. */
const PHOTOS_LOOK_MAX_MS = 7 * 24 * HOUR_MS;

/** What names the files on the disk. */
export interface Named {
  /** Whether a violation of this id is known. */
  violation(id: string): Promise<boolean>;
  /** The files of a tow's photos; null when there is no such tow here any more: its photos stay. */
  photosOf(towingReference: string): Promise<readonly string[] | null>;
}

/** What was removed. */
export interface Swept {
  readonly uploads: number;
  readonly violations: number;
  readonly photos: number;
}

/** Removes what processes left behind that ended in the middle: old uploads, images of no violation, photos of no tow. */
export async function sweep(layout: Layout, tools: { nowMs: number; named: Named }): Promise<Swept> {
  const uploads = await oldFolders(layout.incoming, tools.nowMs - INCOMING_MAX_MS);
  for (const name of uploads) await rm(join(layout.incoming, name), { recursive: true, force: true });
  await removeProbes(layout, tools.nowMs - INCOMING_MAX_MS);
  let violations = 0;
  for (const name of await oldFolders(layout.violations, tools.nowMs - UNRECORDED_MAX_MS)) {
    const id = referenceOf(name);
    if (id === null || (await tools.named.violation(id))) continue;
    await rm(join(layout.violations, name), { recursive: true, force: true });
    violations += 1;
  }
  return { uploads: uploads.length, violations, photos: await sweepPhotos(layout, tools) };
}

/** Photos that were kept by a process that ended before their tow named them. */
async function sweepPhotos(layout: Layout, tools: { nowMs: number; named: Named }): Promise<number> {
  const quiet = new Set(await oldFolders(layout.photos, tools.nowMs - PHOTOS_LOOK_MAX_MS));
  let photos = 0;
  for (const name of await oldFolders(layout.photos, tools.nowMs - UNRECORDED_MAX_MS)) {
    const reference = referenceOf(name);
    if (quiet.has(name) || reference === null) continue;
    const named = await tools.named.photosOf(reference);
    if (named === null) continue;
    const folder = join(layout.photos, name);
    for (const file of await oldFolders(folder, tools.nowMs - UNRECORDED_MAX_MS)) {
      if (named.includes(file)) continue;
      await rm(join(folder, file), { force: true });
      photos += 1;
    }
  }
  return photos;
}

/** Drafts of the marker and probes of processes that ended right then. */
async function removeProbes(layout: Layout, beforeMs: number): Promise<void> {
  const left = (await oldFolders(layout.spool, beforeMs)).filter((name) => /^(probe|marker)\./.test(name));
  for (const name of left) await rm(join(layout.spool, name), { force: true });
}

/** The names in a folder that nobody has touched since a moment. */
async function oldFolders(folder: string, beforeMs: number): Promise<string[]> {
  const names = await readdir(folder).catch(noneIfAbsent);
  const old: string[] = [];
  for (const name of names) {
    const touchedMs = await stat(join(folder, name)).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    if (touchedMs !== null && touchedMs < beforeMs) old.push(name);
  }
  return old;
}

function noneIfAbsent(error: unknown): string[] {
  if (codeOf(error) === 'ENOENT') return [];
  throw error;
}
