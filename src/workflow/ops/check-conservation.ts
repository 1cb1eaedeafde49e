import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log/log';
import { throttledLog } from '../../platform/log/log-throttle';
import { pause, repeat, type Repetition } from '../../platform/timers';
import { totalOf, type ConservationStore } from './conservation';

const RETRY_MS = 5000;
/** Each process logs lost records at most this often. */
const ALARM_EVERY_MS = 60_000;

/**
 * Repeats the conservation check until it is stopped; all processes share the steps of one scan. After each complete scan
 * lost records are logged as `conservation.lost`.
 */
export function repeatConservationCheck(tools: {
  readonly store: ConservationStore;
  /** The wait before the first step; default 0. */
  readonly firstAfterMs?: number;
  readonly clock: Clock;
  readonly log: Log;
}): Repetition {
  const { store, firstAfterMs = 0, clock, log } = tools;
  const alarm = throttledLog(log, { clock, quietMs: ALARM_EVERY_MS });
  return repeat({
    name: 'conservation',
    everyMs: RETRY_MS,
    firstAfterMs,
    async work(signal) {
      const { isLast, waitMs } = await store.step();
      if (isLast) await logLostRecords(store, alarm);
      await pause(waitMs, signal);
      return 'continue';
    },
    log,
  });
}

async function logLostRecords(store: ConservationStore, log: Log): Promise<void> {
  const scan = await store.lastScan();
  if (!scan || scan.lostNames.length === 0) return;
  const { lost, repaired } = totalOf(scan);
  log.error('conservation.lost', { lost, repaired, names: scan.lostNames });
}
