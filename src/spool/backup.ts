import { rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOUR_MS, MINUTE_MS } from '../domain/timestamp';
import { errorCode, nullIfAbsent } from '../platform/errors';
import { FILE_MODE, syncFolder } from '../platform/folders';
import { ensureFolder, type SpoolLayout } from './folders';

/**
 * Images during a backup. A violation that is unsettled in the backup of Redis may be settled before its images are
 * copied. While a marker file exists, its images are therefore moved aside and not removed.
 */

/** A marker that was not renewed for this time was left by a process that ended. */
const MARKER_MAX_MS = HOUR_MS;
/** A running backup renews its marker this often: the copy of many images may take hours. */
const RENEW_EVERY_MS = MINUTE_MS;

/** Another backup of the same disk is running, or was killed less than an hour ago. */
export class BackupRunning extends Error {
  override readonly name = 'BackupRunning';

  constructor(readonly marker: string) {
    super(`another backup of this disk is running; if it was killed, remove ${marker}`);
  }
}

/** True while dropped images are kept for a backup. */
export async function isBackupRunning({ backupRunning }: SpoolLayout, nowMs: number): Promise<boolean> {
  const marker = await stat(backupRunning).catch(nullIfAbsent);
  return marker !== null && marker.mtimeMs > nowMs - MARKER_MAX_MS;
}

/** Begins to keep dropped images; the returned function ends it and removes them. @throws BackupRunning */
export async function beginBackup(
  layout: SpoolLayout,
  clock: { nowMs(): number },
  renewEveryMs = RENEW_EVERY_MS,
): Promise<() => Promise<void>> {
  await sweepDropped(layout, clock.nowMs());
  await ensureFolder(layout.spool);
  try {
    await writeFile(layout.backupRunning, '', { mode: FILE_MODE, flag: 'wx' });
  } catch (error) {
    if (errorCode(error) === 'EEXIST') throw new BackupRunning(layout.backupRunning);
    throw error;
  }
  const renew = async () => {
    const now = new Date(clock.nowMs());
    await utimes(layout.backupRunning, now, now);
  };
  // A marker that cannot be renewed now is renewed later.
  const renewing = setInterval(() => void renew().catch(() => {}), renewEveryMs);
  renewing.unref();
  return async () => {
    clearInterval(renewing);
    await rm(layout.backupRunning, { force: true });
    await rm(layout.dropped, { recursive: true, force: true });
  };
}

/** Moves a folder aside; one that is gone is no error. */
export async function moveToDropped(layout: SpoolLayout, folder: string): Promise<void> {
  await ensureFolder(layout.dropped);
  await rename(folder, join(layout.dropped, basename(folder))).catch(nullIfAbsent);
  await syncFolder(layout.dropped);
}

/** Removes what a backup left that ended without removing it. */
export async function sweepDropped(layout: SpoolLayout, nowMs: number): Promise<void> {
  if (await isBackupRunning(layout, nowMs)) return;
  await rm(layout.backupRunning, { force: true });
  await rm(layout.dropped, { recursive: true, force: true });
}
