import { rm, rmdir, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Finding } from '../cli';
import type { Clock } from '../platform/clock';
import { FILE_MODE, makeFolder } from '../platform/folders';
import { errorCode } from '../platform/errors';
import { misreadsJsonKeys } from '../platform/process';
import { notesOf } from './finding';
import { silentLog } from '../platform/log/log';
import { createSpool, type DiskSpool, type SharedMarker } from '../spool';
import type { Redis } from '../store/redis/connect';
import { createSpoolMarker } from '../store/ops/spool-marker';

const OLDEST_NODE = 20;
const MIB = 1024 * 1024;
/** DATA_DIR holds images during an outage of the service, and the archive. */
const SPACE_WARNING_BYTES = 1024 * MIB;
const SPACE_FAULT_BYTES = 100 * MIB;

/** Checks the version of Node, and whether it reads JSON correctly. */
export function checkNode(version = process.versions.node, misreads = misreadsJsonKeys()): Finding {
  const notes = notesOf('node');
  if (Number(version.split('.')[0]) < OLDEST_NODE) {
    return notes.fault('node_too_old', `version ${version} is too old`, `Install Node ${OLDEST_NODE} or newer.`);
  }
  if (!misreads) return notes.fine('new_enough', `version ${version}`);
  return notes.warning(
    'node_misreads_json',
    `version ${version} may misread keys of JSON that contain a quote, a backslash or a line end`,
    'Use Node 20 or 22, as the image does, until https://github.com/nodejs/node/issues/63785 is fixed.',
  );
}

/** Checks that this user can write to DATA_DIR, and the free space. */
export async function checkDataDir(dataDir: string, clock: Clock): Promise<Finding[]> {
  const folder = resolve(dataDir);
  const notes = notesOf('disk');
  const free = await probeSpace(folder, clock.id());
  if (typeof free === 'string') {
    return [
      notes.fault(
        'data_dir_not_writable',
        `DATA_DIR (${folder}) cannot be written: ${free}`,
        'Give the user of the roles the right to write there, or set DATA_DIR to a folder that can be written.',
      ),
    ];
  }
  const what = `${Math.floor(free / MIB)} MiB are free in DATA_DIR (${folder})`;
  const fix =
    'Make room, or set DATA_DIR to a larger disk. The archive grows in DATA_DIR/archive; move old files of it away.';
  if (free < SPACE_FAULT_BYTES) return [notes.fault('disk_full', what, fix)];
  if (free < SPACE_WARNING_BYTES) return [notes.warning('disk_nearly_full', what, fix)];
  return [notes.fine('writable', what)];
}

/** The free bytes of a folder in which a file could be written, else the code of the error. Leaves nothing behind. */
async function probeSpace(folder: string, id: string): Promise<number | string> {
  const probe = join(folder, `.doctor-${id}`);
  let made: string | undefined;
  try {
    made = await makeFolder(folder);
    await writeFile(probe, '', { mode: FILE_MODE, flag: 'wx' });
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    return errorCode(error) ?? 'failed';
  } finally {
    await rm(probe, { force: true }).catch(() => {});
    if (made !== undefined) await removeEmpty(folder, made).catch(() => {});
  }
}

/** Removes an empty folder and its parents up to `topmost`. Rejects at one that another process has begun to use. */
async function removeEmpty(folder: string, topmost: string): Promise<void> {
  await rmdir(folder);
  if (folder !== topmost) await removeEmpty(dirname(folder), topmost);
}

const imageNotes = notesOf('images');

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
        : imageNotes.fine('disk_not_in_use', 'this disk was not in use yet');
    }
    // An unusable disk is not adopted.
    const adopted = adoptsDisk ? await idOf(spoolOf) : null;
    if (adopted !== null) await marker.adopt(adopted);
    switch (adoptsDisk && adopted === null ? 'unusable' : await spool.state()) {
      case 'shared':
        if ((await spool.alarm()) !== null) return recordsMissing();
        return imageNotes.fine('disk_shared', `DATA_DIR is the disk in use${adoptsDisk ? ' from now on' : ''}`);
      case 'foreign':
        return imageNotes.fault(
          'disk_foreign',
          'DATA_DIR is another disk than the one in use: images taken in elsewhere cannot be sent from here',
          'Mount the same DATA_DIR for every console and worker. If the disk in use is gone for good: towhook doctor --adopt-disk.',
        );
      case 'unusable':
        return imageNotes.fault(
          'disk_unusable',
          spool.problem() ?? 'images cannot be written to DATA_DIR/spool',
          'Give the user of the roles the right to write there, make room on that disk, and keep DATA_DIR/spool on one volume.',
        );
    }
  } catch (error) {
    return imageNotes.skipped('not_looked_at', `the disk in use is unknown: ${errorCode(error) ?? 'no answer'}`);
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
  return imageNotes.fault(
    'records_missing',
    'DATA_DIR was in use, and this Redis has no records of it: it was emptied or not restored, or REDIS_URL names another one',
    'Load the backup of Redis, or correct REDIS_URL: until KEEP_VIOLATIONS_HOURS have passed no image is moved. If the records are gone for good: towhook doctor --adopt-disk.',
  );
}
