import { dirname, join, resolve } from 'node:path';
import { makeFolder, syncFolder } from '../platform/folders';
import { sha256Hex } from '../platform/hash';
import type { SpoolPlace } from '../workflow/ops/spool-port';

/** The folders below DATA_DIR. */
export interface SpoolLayout {
  readonly spool: string;
  readonly marker: string;
  /** Exists once Redis has the id of this disk: from then on Redis has records. */
  readonly claimed: string;
  /** One folder per upload that is not kept yet. */
  readonly incoming: string;
  /** One folder per violation. */
  readonly violations: string;
  /** One folder per tow. */
  readonly photos: string;
  /** The archive of finished records. */
  readonly archive: string;
  /** Images without a record; only a person removes them. */
  readonly orphans: string;
  /** Exists while a backup copies images. */
  readonly backupRunning: string;
  /** Images of violations that were settled during a backup; removed after it. */
  readonly dropped: string;
}

export function layoutOf(dataDir: string): SpoolLayout {
  const spool = resolve(dataDir, 'spool');
  return {
    spool,
    marker: join(spool, 'marker'),
    claimed: join(spool, 'claimed'),
    incoming: join(spool, 'incoming'),
    violations: join(spool, 'violations'),
    photos: resolve(dataDir, 'photos'),
    archive: resolve(dataDir, 'archive'),
    orphans: join(spool, 'orphans'),
    backupRunning: join(spool, 'backup-running'),
    dropped: join(spool, 'dropped'),
  };
}

export function folderOf(layout: SpoolLayout, place: SpoolPlace): string {
  switch (place.kind) {
    case 'violation':
      return join(layout.violations, folderName(place.id));
    case 'photos':
      return join(layout.photos, folderName(place.towingReference));
  }
}

/** The reference of a folder; null for a hashed name and for names that the spool did not create. */
export function referenceOf(name: string): string | null {
  if (HASHED.test(name)) return null;
  try {
    return decodeURIComponent(name);
  } catch {
    return null;
  }
}

/** Some file systems refuse longer names. */
const NAME_MAX = 200;
const HASHED = /^sha256-[\da-f]{64}$/;

/**
 * A folder name for any reference: neither a path nor hidden, and different for each reference. A reference that looks
 * like a hashed name is hashed itself.
 */
function folderName(reference: string): string {
  const name = encodedName(reference);
  if (name !== '' && name.length <= NAME_MAX && !HASHED.test(name)) return name;
  return `sha256-${sha256Hex(reference)}`;
}

function encodedName(reference: string): string {
  return encodeURIComponent(reference.toWellFormed()).replaceAll(/[.~!*'()]/g, (sign) => {
    const code = sign.codePointAt(0) ?? 0;
    return `%${code.toString(16).toUpperCase()}`;
  });
}

/** Creates a folder durably: new parent folders are flushed too. */
export async function ensureFolder(folder: string): Promise<void> {
  const created = await makeFolder(folder);
  if (created === undefined) return;
  const top = dirname(resolve(created));
  for (let above = dirname(folder); above.startsWith(top); above = dirname(above)) {
    await syncFolder(above);
    if (above === top) return;
  }
}
