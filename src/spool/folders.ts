import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { makeFolder } from '../platform/make-folder';
import type { SpoolPlace } from '../workflow/spool-port';

/** Where everything lies below DATA_DIR, and how a name gets there for good. */
export interface Layout {
  readonly spool: string;
  readonly marker: string;
  /** One folder per upload that is not kept yet. */
  readonly incoming: string;
  /** One folder per violation. */
  readonly violations: string;
  /** One folder per tow. */
  readonly photos: string;
  /** Images without a record, which only a person removes. */
  readonly orphans: string;
}

/** Images are personal data: nobody but the user of the process reads them. */
export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

export function layoutOf(dataDir: string): Layout {
  const spool = resolve(dataDir, 'spool');
  return {
    spool,
    marker: join(spool, 'marker'),
    incoming: join(spool, 'incoming'),
    violations: join(spool, 'violations'),
    photos: resolve(dataDir, 'photos'),
    orphans: join(spool, 'orphans'),
  };
}

/** The folder of a place. */
export function folderOf(layout: Layout, place: SpoolPlace): string {
  switch (place.kind) {
    case 'violation':
      return join(layout.violations, folderName(place.id));
    case 'photos':
      return join(layout.photos, folderName(place.towingReference));
  }
}

/** The folders in which files of a place may lie: its own, and the one that earlier versions gave it where that differs. */
export function foldersOf(layout: Layout, place: SpoolPlace): string[] {
  const own = folderOf(layout, place);
  if (place.kind !== 'photos') return [own];
  const former = encodedName(place.towingReference);
  return HASHED.test(former) ? [own, join(layout.photos, former)] : [own];
}

/** The reference that a folder belongs to; null for a hashed one, and for a name that the spool never gave. */
export function referenceOf(name: string): string | null {
  if (HASHED.test(name)) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/** Longer names are not taken by every file system. */
const NAME_MAX = 200;
const HASHED = /^sha256-[\da-f]{64}$/;

/**
 * A reference may be any text; as the name of a folder it is neither a path nor hidden, and differs for each reference:
 * one that reads like a hashed name is hashed itself.
 */
function folderName(reference: string): string {
  const name = encodedName(reference);
  if (name !== '' && name.length <= NAME_MAX && !HASHED.test(name)) return name;
  return `sha256-${createHash('sha256').update(reference).digest('hex')}`;
}

function encodedName(reference: string): string {
  return encodeURIComponent(reference.toWellFormed()).replaceAll(/[.~!*'()]/g, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return `%${code.toString(16).toUpperCase()}`;
  });
}

/** Makes a folder, for good: those above it that are new are on the disk too. */
export async function ensureFolder(folder: string): Promise<void> {
  const created = await makeFolder(folder, FOLDER_MODE);
  if (created === undefined) return;
  const top = dirname(resolve(created));
  for (let above = dirname(folder); above.startsWith(top); above = dirname(above)) {
    await syncFolder(above);
    if (above === top) return;
  }
}

/** A new name is on the disk once its folder is. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
