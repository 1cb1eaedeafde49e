import type { Stats } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/repeat';
import { codeOf } from '../platform/system-error';
import type { Spool } from '../workflow/spool-port';
import { folderOf, foldersOf, layoutOf, syncFolder } from './folders';
import { spoolState, type SharedMarker } from './marker';
import { sweep, type Named } from './sweep';
import { beginUpload } from './upload';

export type { SharedMarker } from './marker';

export interface SpoolOptions {
  readonly dataDir: string;
  readonly marker: SharedMarker;
  readonly clock: Clock;
  readonly log: Log;
}

export interface DiskSpool extends Spool {
  /** Sweeps now and every hour, until it is stopped. Nothing is swept on a disk that is not the shared one. */
  startSweeping(named: Named): Repetition;
}

const SWEEP_EVERY_MS = 3_600_000;

/** Images below DATA_DIR. Making it touches nothing. */
export function createSpool({ dataDir, marker, clock, log }: SpoolOptions): DiskSpool {
  const layout = layoutOf(dataDir);
  const state = () => spoolState(layout, { marker, newId: () => clock.id() });
  return {
    state,
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
        everyMs: SWEEP_EVERY_MS,
        log,
        work: async () => {
          if ((await state()) !== 'shared') return 'rest';
          const swept = await sweep(layout, { nowMs: clock.nowMs(), named });
          if (swept.uploads + swept.violations + swept.photos > 0) log.info('spool.swept', { ...swept });
          return 'rest';
        },
      }),
  };
}

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
