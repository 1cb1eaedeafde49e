import { rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { HOUR_MS, isoTimestamp } from '../domain/timestamp';
import type { Clock } from '../platform/clock';
import type { DataKeys } from '../platform/data-keys';
import type { Log } from '../platform/log/log';
import { repeat, type Repetition } from '../platform/timers';
import type { Spool, SpoolState } from '../workflow/ops/spool-port';
import { beginBackup, isBackupRunning, moveToDropped, sweepDropped } from './backup';
import { folderOf, layoutOf } from './folders';
import { syncFolder } from '../platform/folders';
import { hasSharedMarker, spoolState, wasInUse, type SharedMarker, type SpoolCheck } from './marker';
import { moveOrphans, sweepUploads, UNRECORDED_MAX_MS, type SpoolReferences } from './sweep';
import { imageSource, isFileOfSize } from './stored-image';
import { beginUpload } from './upload';

export type { SharedMarker } from './marker';

export interface SpoolOptions {
  readonly dataDir: string;
  readonly marker: SharedMarker;
  /** KEEP_VIOLATIONS_HOURS: how long images without a record stay in place, and how long the alarm lasts. */
  readonly keepMs: number;
  /** IMAGES_TOTAL_BYTES_MAX: with fewer free bytes the disk is unusable. Default 0. */
  readonly minFreeBytes?: number;
  /** What images are stored and read with. */
  readonly keys?: DataKeys | null;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DiskSpool extends Spool {
  /** Whether this disk was in use. */
  wasInUse(): Promise<boolean>;
  /** The last `state` if it is less than 10 s old, else a new one. */
  recentState(): Promise<SpoolState>;
  /**
   * Keeps images that are dropped from now on until the returned function is called, or an hour after this process has
   * ended.
   *
   * @throws BackupRunning when another backup keeps them.
   */
  beginBackup(): Promise<() => Promise<void>>;
  /**
   * Sweeps now and every hour until it is stopped. Sweeps only the shared disk. While that is unusable, such as full, it
   * only removes files.
   */
  startSweeping(named: SpoolReferences): Repetition;
}

const RECENT_MS = 10_000;

/** Images below DATA_DIR. Creating the spool does not touch the disk. */
export function createSpool(options: SpoolOptions): DiskSpool {
  const { dataDir, marker, keepMs, minFreeBytes = 0, keys = null, clock, log } = options;
  const layout = layoutOf(dataDir);
  let last: (SpoolCheck & { readonly atMs: number }) | null = null;
  const check = async () => {
    const found = await spoolState(layout, {
      marker,
      minFreeBytes,
      newId: () => clock.id(),
      nowMs: () => clock.nowMs(),
    });
    last = { ...found, atMs: clock.monotonicMs() };
    return found.state;
  };
  let checking: Promise<SpoolState> | null = null;
  // One check at a time: while a disk hangs, each holds one of the four threads that Node needs for files and names.
  const state = () => {
    checking ??= check().finally(() => (checking = null));
    return checking;
  };
  const reading = refuseWhileReadsHang(clock);
  const orphanAfterMs = Math.max(keepMs, UNRECORDED_MAX_MS);
  let loggedMs: number | null = null;

  const alarm = async () => {
    const [sinceMs, nowMs] = [await marker.alarmMs(), clock.nowMs()];
    if (sinceMs === null || nowMs >= sinceMs + orphanAfterMs) return null;
    if (loggedMs === null || nowMs >= loggedMs + HOUR_MS) {
      loggedMs = nowMs;
      log.error('spool.records_missing', { since: isoTimestamp(sinceMs), problem: RECORDS_MISSING });
    }
    return { sinceMs };
  };

  const pathOf: Spool['pathOf'] = async (place, { file, sizeBytes }) => {
    if (file !== basename(file)) return null;
    const path = join(folderOf(layout, place), file);
    return (await isFileOfSize(path, sizeBytes)) ? path : null;
  };

  return {
    state,
    recentState: async () => (last !== null && clock.monotonicMs() - last.atMs < RECENT_MS ? last.state : state()),
    problem: () => last?.problem ?? null,
    alarm,
    wasInUse: () => wasInUse(layout),
    begin: () => beginUpload(layout, { id: clock.id(), keys }),
    pathOf,
    sourceOf: (place, kept) =>
      reading(async () => {
        const path = await pathOf(place, kept);
        return path === null ? null : imageSource(path, keys);
      }),
    async drop(place) {
      const folder = folderOf(layout, place);
      if (await isBackupRunning(layout, clock.nowMs())) await moveToDropped(layout, folder);
      else await rm(folder, { recursive: true, force: true });
      await syncFolder(join(folder, '..')).catch(() => {});
    },
    beginBackup: () => beginBackup(layout, clock),
    startSweeping: (named) =>
      repeat({
        name: 'spool.sweep',
        everyMs: HOUR_MS,
        log,
        work: async () => {
          const found = await state();
          if (found !== 'shared' && !(await hasSharedMarker(layout, marker))) return;
          const nowMs = clock.nowMs();
          const uploads = await sweepUploads(layout, nowMs);
          if (uploads > 0) log.info('spool.swept', { uploads });
          await sweepDropped(layout, nowMs);
          if (found !== 'shared' || (await alarm()) !== null) return;
          const moved = await moveOrphans(layout, { nowMs, orphanAfterMs, named });
          if (moved.violations + moved.photos > 0) log.warn('spool.orphaned', { ...moved, folder: layout.orphans });
        },
      }),
  };
}

const RECORDS_MISSING =
  'DATA_DIR was in use and Redis has no records of it: load the backup of Redis or correct REDIS_URL; if the records are gone for good: towhook doctor --adopt-disk';

/** A read that lasts longer hangs. */
const HANGS_AFTER_MS = 3000;

/**
 * Runs reads of the disk, but begins none while an earlier one hangs: each holds one of the few threads that Node has for
 * files and names, and callers that no longer wait for it would start one after the other.
 */
function refuseWhileReadsHang(clock: Pick<Clock, 'monotonicMs'>) {
  const running = new Set<{ readonly startedMs: number }>();
  return async <T>(read: () => Promise<T>): Promise<T> => {
    const startedMs = clock.monotonicMs();
    // The first is the oldest.
    const [oldest] = running;
    if (oldest !== undefined && startedMs - oldest.startedMs >= HANGS_AFTER_MS) throw new DiskHangs();
    const reading = { startedMs };
    running.add(reading);
    try {
      return await read();
    } finally {
      running.delete(reading);
    }
  };
}

class DiskHangs extends Error {
  override readonly name = 'DiskHangs';

  constructor() {
    super('the disk of DATA_DIR does not answer');
  }
}
