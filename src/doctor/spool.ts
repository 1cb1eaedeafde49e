import type { Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { silentLog } from '../platform/log/log';
import { errorCode } from '../platform/errors';
import { createSpool, type DiskSpool, type SharedMarker } from '../spool';
import type { Redis } from '../store/redis/connect';
import { createSpoolMarker } from '../store/ops/spool-marker';
import { notesOf } from './finding';

const notes = notesOf('images');

/** Checks that DATA_DIR is the disk of images that console and workers share. */
export async function checkSpool(
  redis: Redis,
  {
    dataDir,
    keepMs,
    minFreeBytes,
    clock,
    adoptsDisk,
  }: { dataDir: string; keepMs: number; minFreeBytes: number; clock: Clock; adoptsDisk: boolean },
): Promise<Finding> {
  try {
    const marker = createSpoolMarker(redis);
    const spoolOf = (shared: SharedMarker) =>
      createSpool({ dataDir, marker: shared, keepMs, minFreeBytes, clock, log: silentLog });
    const spool = spoolOf(marker);
    // A check must not make this machine's disk the shared one.
    if (!adoptsDisk && (await marker.read()) === null) {
      return (await spool.wasInUse())
        ? recordsMissing()
        : notes.fine('disk_not_in_use', 'this disk was not in use yet');
    }
    // An unusable disk is not adopted.
    const adopted = adoptsDisk ? await idOf(spoolOf) : null;
    if (adopted !== null) await marker.adopt(adopted);
    switch (adoptsDisk && adopted === null ? 'unusable' : await spool.state()) {
      case 'shared':
        if ((await spool.alarm()) !== null) return recordsMissing();
        return notes.fine('disk_shared', `DATA_DIR is the disk in use${adoptsDisk ? ' from now on' : ''}`);
      case 'foreign':
        return notes.fault(
          'disk_foreign',
          'DATA_DIR is another disk than the one in use: images taken in elsewhere cannot be sent from here',
          'Mount the same DATA_DIR for every console and worker. If the disk in use is gone for good: towhook doctor --adopt-disk.',
        );
      case 'unusable':
        return notes.fault(
          'disk_unusable',
          spool.problem() ?? 'images cannot be written to DATA_DIR/spool',
          'Give the user of the roles the right to write there, make room on that disk, and keep DATA_DIR/spool on one volume.',
        );
    }
  } catch (error) {
    return notes.skipped('not_looked_at', `the disk in use is unknown: ${errorCode(error) ?? 'no answer'}`);
  }
}

/** The id of this disk, created if necessary; null when the disk cannot be written. */
async function idOf(spoolOf: (marker: SharedMarker) => DiskSpool): Promise<string | null> {
  let claimed: string | null = null;
  // With a marker store that is empty, the state depends on this disk only.
  const state = await spoolOf({
    read: () => Promise.resolve(null),
    claim: (id) => Promise.resolve((claimed = id)),
    alarmMs: () => Promise.resolve(null),
  }).state();
  return state === 'shared' ? claimed : null;
}

function recordsMissing(): Finding {
  return notes.fault(
    'records_missing',
    'DATA_DIR was in use, and this Redis has no records of it: it was emptied or not restored, or REDIS_URL names another one',
    'Load the backup of Redis, or correct REDIS_URL: until KEEP_VIOLATIONS_HOURS have passed no image is moved. If the records are gone for good: towhook doctor --adopt-disk.',
  );
}
