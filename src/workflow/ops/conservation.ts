import type { ConservationCounts, ConservationView } from '../../contracts/ops/conservation';
import { isoOrNull } from '../../domain/timestamp';
import type { Clock } from '../../platform/clock';
import type { Log } from '../../platform/log/log';
import { throttledLog } from '../../platform/log/log-throttle';
import { pause, repeat, type Repetition } from '../../platform/timers';

/**
 * The conservation check: everything acknowledged or recorded is in exactly one state, and nothing is lost. A scan
 * reads each record in small steps and counts; counts are never subtracted.
 */
export interface ConservationStore {
  /** Runs one step of the scan that all processes share. A step that comes too early does nothing. */
  step(): Promise<ScanStep>;
  /** The last complete scan; null before the first. */
  lastScan(): Promise<ConservationScan | null>;
}

export interface ScanStep {
  /** True when this step completed a scan. */
  readonly isLast: boolean;
  /** How long to wait before the next step, ms. */
  readonly waitMs: number;
}

/** The result of a complete scan. Timestamps are Redis time. */
export interface ConservationScan {
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly ageMs: number;
  readonly deliveries: ConservationCounts;
  readonly reports: ConservationCounts;
  readonly violations: ConservationCounts;
  /**
   * The first 100 lost items: `delivery <id>`, `violation <id>`, `report <towing reference> <place in its outbox>`,
   * or `tow <towing reference>` when the whole record is gone; that counts as one report.
   */
  readonly lostNames: readonly string[];
}

type ByKind = Pick<ConservationScan, 'deliveries' | 'reports' | 'violations'>;

export const NO_COUNTS: ConservationCounts = {
  acknowledged: 0,
  finished: 0,
  waiting: 0,
  parked: 0,
  with_a_person: 0,
  lost: 0,
  repaired: 0,
};

/** The sum over deliveries, reports and violations. */
export function totalOf({ deliveries, reports, violations }: ByKind): ConservationCounts {
  const sumOf = (name: keyof ConservationCounts) => deliveries[name] + reports[name] + violations[name];
  return {
    acknowledged: sumOf('acknowledged'),
    finished: sumOf('finished'),
    waiting: sumOf('waiting'),
    parked: sumOf('parked'),
    with_a_person: sumOf('with_a_person'),
    lost: sumOf('lost'),
    repaired: sumOf('repaired'),
  };
}

/** The last complete scan as the API shows it; all counts are 0 before the first. */
export function conservationViewOf(scan: ConservationScan | null): ConservationView {
  const { deliveries, reports, violations } = scan ?? {
    deliveries: NO_COUNTS,
    reports: NO_COUNTS,
    violations: NO_COUNTS,
  };
  return {
    ...totalOf({ deliveries, reports, violations }),
    lost_names: [...(scan?.lostNames ?? [])],
    by_kind: { deliveries, reports, violations },
    started_at: isoOrNull(scan?.startedAtMs ?? null),
    ended_at: isoOrNull(scan?.endedAtMs ?? null),
    check_ms: scan ? scan.endedAtMs - scan.startedAtMs : null,
  };
}

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
