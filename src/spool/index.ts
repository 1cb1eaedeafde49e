import type { Stats } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/repeat';
import { codeOf } from '../platform/system-error';
import type { Spool, SpoolState } from '../workflow/spool-port';
import { folderOf, foldersOf, layoutOf, syncFolder } from './folders';
import { spoolState, wasInUse, type SharedMarker } from './marker';
import { moveOrphans, sweepUploads, UNRECORDED_MAX_MS, type Named } from './sweep';
import { beginUpload } from './upload';

export type { SharedMarker } from './marker';

export interface SpoolOptions {
  readonly dataDir: string;
  readonly marker: SharedMarker;
  /** KEEP_VIOLATIONS_HOURS: images without a record stay in place for so long, and so long lasts the alarm. */
  readonly keepMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DiskSpool extends Spool {
  /** Whether images were ever kept on this disk. */
  wasInUse(): Promise<boolean>;
  /** The last `state` where it is less than 10 s old, else a new one. */
  recentState(): Promise<SpoolState>;
  /** Sweeps now and every hour, until it is stopped. Nothing is swept on a disk that is not the shared one. */
  startSweeping(named: Named): Repetition;
}

const HOUR_MS = 3_600_000;
const RECENT_MS = 10_000;

/** Images below DATA_DIR. Making it touches nothing. */
export function createSpool({ dataDir, marker, keepMs, clock, log }: SpoolOptions): DiskSpool {
  const layout = layoutOf(dataDir);
  let last: { readonly state: SpoolState; readonly atMs: number } | null = null;
  const state = async () => {
    const found = await spoolState(layout, { marker, newId: () => clock.id(), nowMs: () => clock.nowMs() });
    last = { state: found, atMs: clock.monotonicMs() };
    return found;
  };
  const orphanAfterMs = Math.max(keepMs, UNRECORDED_MAX_MS);
  let loggedMs: number | null = null;

  const alarm = async () => {
    const [sinceMs, nowMs] = [await marker.alarmMs(), clock.nowMs()];
    if (sinceMs === null || nowMs >= sinceMs + orphanAfterMs) return null;
    if (loggedMs === null || nowMs >= loggedMs + HOUR_MS) {
      loggedMs = nowMs;
      log.error('spool.records_missing', { since: new Date(sinceMs).toISOString(), problem: RECORDS_MISSING });
    }
    return { sinceMs };
  };

  return {
    state,
    recentState: async () => (last !== null && clock.monotonicMs() - last.atMs < RECENT_MS ? last.state : state()),
    alarm,
    wasInUse: () => wasInUse(layout),
    begin: () => beginUpload(layout, clock.id()),
    async pathOf(place, { file, sizeBytes }) {
      if (file !== basename(file)) return null;
      for (const folder of foldersOf(layout, place)) {
        const path = join(folder, file);
        const found = await statOf(path);
        if (found?.isFile() && found.size === sizeBytes) return path;
      }
      return null;
    },
    async drop(place) {
      const folder = folderOf(layout, place);
      await rm(folder, { recursive: true, force: true });
      await syncFolder(join(folder, '..')).catch(() => {});
    },
    startSweeping: (named) =>
      repeat({
        name: 'spool.sweep',
        everyMs: HOUR_MS,
        log,
        work: async () => {
          if ((await state()) !== 'shared') return 'rest';
          const nowMs = clock.nowMs();
          const uploads = await sweepUploads(layout, nowMs);
          if (uploads > 0) log.info('spool.swept', { uploads });
          if ((await alarm()) !== null) return 'rest';
          const moved = await moveOrphans(layout, { nowMs, orphanAfterMs, named });
          if (moved.violations + moved.photos > 0) log.warn('spool.orphaned', { ...moved, folder: layout.orphans });
          return 'rest';
        },
      }),
  };
}

const RECORDS_MISSING =
  'DATA_DIR was in use and Redis has no records of it: load the backup of Redis or correct REDIS_URL; if the records are gone for good: towhook doctor --adopt-disk';

/** A disk that fails, or that has lost its connection, does not say that a file is gone. */
async function statOf(path: string): Promise<Stats | null> {
  try {
    return await stat(path);
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error;
  }
}
