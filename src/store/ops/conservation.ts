import type { Redis } from 'ioredis';
import { scanState, scanRecord, type ScanProgress } from '../../contracts/ops/conservation';
import { countedAs, type CheckedItem } from '../../domain/ops/conservation';
import { nextVersion } from '../../domain/outbox/outbox-record';
import { recordsLostTask } from '../../domain/ops/tasks';
import { systemClock } from '../../platform/clock';
import { pause } from '../../platform/timers';
import { NO_COUNTS, type ConservationStore, type ScanStep } from '../../workflow/ops/conservation';
import type { Effect } from '../redis/commit';
import { checkEntries } from './check-entries';
import { closingOf, openingOf } from './task-changes';
import { KEYS } from '../keys';
import { entriesAfter, ledgerEnds, ledgerSize, type LedgerEntry } from './ledger';
import { recordsOf } from '../outbox/records';

export interface ScanSettings {
  /** Ledger entries per step, at least and at most. Large ledgers take larger steps, so that a scan ends in time. */
  readonly namesPerStep: number;
  readonly namesPerStepMax: number;
  /** The minimum pause between two steps over all processes, ms. */
  readonly paceMs: number;
  /** Pauses spread a scan over this time, ms, but are at least half of the time it works. 0: no pauses. */
  readonly scanWithinMs: number;
  /** The minimum time between the starts of two scans, ms. */
  readonly scanIntervalMs: number;
}

/**
 * A scan checks five entries a second, more with a large ledger, so that it ends within 7 minutes, with up to two thirds of
 * the time of one process. So a record that is lost right after its check is found within a quarter of an hour.
 */
const SCAN_SETTINGS: ScanSettings = {
  // Small steps let other work of the process go on. Each has a dozen commands of its own.
  namesPerStep: 80,
  namesPerStepMax: 1000,
  paceMs: 100,
  scanWithinMs: 400_000,
  scanIntervalMs: 16_000,
};

/** Without pauses: no other process uses this Redis. */
const FULL_SPEED: ScanSettings = {
  namesPerStep: 500,
  namesPerStepMax: 1000,
  paceMs: 0,
  scanWithinMs: 0,
  scanIntervalMs: 0,
};

/** Steps per scan, unless namesPerStepMax is reached. */
const STEPS_PER_SCAN = 2000;

/** Another process repeats the step of a lost process after this. */
export const STEP_LEASE_MS = 10_000;
/** Retry interval while another process runs a step. */
const RETRY_MS = 500;
const NAMES_MAX = 100;
/** The scan needs no more memory: it overwrites its own progress, and work that it reschedules frees memory. */
const WHEN_FULL = { whenFull: true } as const;

/**
 * The conservation scan over the ledger. Its progress is one versioned record: a process claims a step, checks the next
 * entries and commits the result. The result of a step that another process has taken over is dropped.
 */
export function createConservationStore(redis: Redis, settings: ScanSettings = SCAN_SETTINGS): ConservationStore {
  const records = recordsOf(redis);
  const { namesPerStep, namesPerStepMax, paceMs, scanIntervalMs } = settings;

  const write = (expected: string, set: Readonly<Record<string, string>>, more: { isLast?: boolean } = {}) => {
    const version = nextVersion(expected, systemClock.id());
    const remove = [...(more.isLast ? ['progress'] : []), ...('busy_until' in set ? [] : ['busy_until'])];
    return { version, change: { key: KEYS.scan, expected, version, set, remove } };
  };

  return {
    async step(): Promise<ScanStep> {
      const beganMs = systemClock.monotonicMs();
      const [hash, nowMs] = await Promise.all([redis.hgetall(KEYS.scan), records.nowMs()]);
      const state = scanState.parse(hash);
      const tooEarlyMs = waitOf(state, nowMs, settings);
      if (tooEarlyMs > 0) return { isLast: false, waitMs: tooEarlyMs };
      const taken = write(state.v, { busy_until: String(nowMs + STEP_LEASE_MS) });
      const reply = await records.commit({ records: [taken.change], effects: [] }, WHEN_FULL);
      if (reply !== 'done') return { isLast: false, waitMs: Math.max(paceMs, RETRY_MS) };

      const before = state.progress ?? newProgress(nowMs, await ledgerEnds(redis));
      const size = await ledgerSize(redis);
      const count = Math.min(namesPerStepMax, Math.max(namesPerStep, Math.ceil(size / STEPS_PER_SCAN)));
      const entries = await entriesAfter(redis, before, count);
      const items = await checkEntries(redis, entries, nowMs);
      const isLast = entries.length < count;
      const progress = advanced(before, entries, items);

      const task = await taskChange(redis, { progress, items, isLast, nowMs });
      const tookMs = systemClock.monotonicMs() - beganMs;
      const pauseMs = pauseAfter(tookMs, entries.length / Math.max(1, size), settings);
      const endedMs = await records.nowMs();
      const nextAtMs = isLast ? Math.max(endedMs + pauseMs, progress.startedAtMs + scanIntervalMs) : endedMs + pauseMs;
      const next_at = String(Math.round(nextAtMs));
      const ended = write(taken.version, isLast ? { next_at } : { next_at, progress: JSON.stringify(progress) }, {
        isLast,
      });
      const effects = [...(task?.effects ?? []), ...(isLast ? publishing(progress, endedMs) : [])];
      const written = await records.commit({ records: [ended.change], checks: task?.checks ?? [], effects }, WHEN_FULL);
      if (written !== 'done') return { isLast: false, waitMs: paceMs };
      return { isLast, waitMs: Math.max(0, Math.round(nextAtMs - endedMs)) };
    },

    async lastScan() {
      const [hash, nowMs] = await Promise.all([redis.hgetall(KEYS.lastScan), records.nowMs()]);
      if (hash['ended_at'] === undefined) return null;
      const scan = scanRecord.parse({
        ...hash,
        deliveries: fieldsOf(hash, 'deliveries.'),
        reports: fieldsOf(hash, 'reports.'),
        violations: fieldsOf(hash, 'violations.'),
      });
      return { ...scan, ageMs: Math.max(0, nowMs - scan.endedAtMs) };
    },
  };
}

/** The pause after a step that checked this share of the ledger, ms. */
function pauseAfter(tookMs: number, share: number, { paceMs, scanWithinMs, scanIntervalMs }: ScanSettings): number {
  const inTimeMs = scanWithinMs === 0 ? 0 : Math.max(scanWithinMs * share - tookMs, tookMs / 2);
  return Math.max(paceMs, Math.min(scanIntervalMs, inTimeMs));
}

/** How long to wait before the next step, ms. A clock that was set back must not stop the scan. */
function waitOf(
  { next_at, busy_until }: { next_at: number; busy_until: number },
  nowMs: number,
  { paceMs, scanIntervalMs }: ScanSettings,
): number {
  const busyMs = busy_until - nowMs;
  if (busyMs > 0 && busyMs <= STEP_LEASE_MS) return Math.max(paceMs, Math.min(RETRY_MS, busyMs));
  const waitMs = next_at - nowMs;
  return waitMs <= Math.max(paceMs, scanIntervalMs, STEP_LEASE_MS) ? waitMs : 0;
}

function newProgress(nowMs: number, ends: ScanProgress['ends']): ScanProgress {
  const tallies = { deliveries: NO_COUNTS, reports: NO_COUNTS, violations: NO_COUNTS };
  return { startedAtMs: nowMs, ends, place: null, tallies, lostNames: [] };
}

function advanced(before: ScanProgress, entries: readonly LedgerEntry[], items: readonly CheckedItem[]): ScanProgress {
  const tallies = {
    deliveries: { ...before.tallies.deliveries },
    reports: { ...before.tallies.reports },
    violations: { ...before.tallies.violations },
  };
  for (const { name, state, isRepairable } of items) {
    const tally = tallies[countedAs(name)];
    tally.acknowledged += 1;
    tally[state] += 1;
    if (isRepairable) tally.repaired += 1;
  }
  const namesWhere = (isListed: (item: CheckedItem) => boolean) =>
    items.filter(isListed).map(({ name }) => name.replaceAll('\n', ' '));
  return {
    ...before,
    place: entries.at(-1) ?? before.place,
    tallies,
    lostNames: [...before.lostNames, ...namesWhere(({ state }) => state === 'lost')].slice(0, NAMES_MAX),
  };
}

/** The task about lost records is open from the first lost item until a complete scan finds none. */
async function taskChange(
  redis: Redis,
  found: { progress: ScanProgress; items: readonly CheckedItem[]; isLast: boolean; nowMs: number },
) {
  const { progress, items, isLast, nowMs } = found;
  if (items.some(({ state }) => state === 'lost')) return openingOf(redis, recordsLostTask, nowMs);
  if (isLast && progress.lostNames.length === 0) return closingOf(redis, recordsLostTask.subject);
  return null;
}

/** Stores the result of a complete scan. */
function publishing({ startedAtMs, tallies, lostNames }: ScanProgress, endedAtMs: number): Effect[] {
  const counts = Object.entries(tallies).flatMap(([kind, tally]) =>
    Object.entries(tally).flatMap(([state, count]) => [`${kind}.${state}`, count]),
  );
  const timestamps = ['started_at', Math.round(startedAtMs), 'ended_at', Math.round(endedAtMs)];
  return [
    ['DEL', KEYS.lastScan],
    ['HSET', KEYS.lastScan, ...timestamps, 'lost_names', JSON.stringify(lostNames), ...counts],
  ];
}

/** The fields of a hash that begin with a prefix, without it. */
function fieldsOf(hash: Readonly<Record<string, string>>, prefix: string): Record<string, string> {
  const fields = Object.entries(hash).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(fields.map(([name, value]) => [name.slice(prefix.length), value]));
}

/** Runs one conservation scan from its beginning to its end and returns its result; null when none was stored. */
export async function completeScan(redis: Redis): Promise<Awaited<ReturnType<ConservationStore['lastScan']>>> {
  const store = createConservationStore(redis, FULL_SPEED);
  // A scan that the workers had begun covers only the rest of the ledger.
  await redis.del(KEYS.scan);
  for (let step = await store.step(); !step.isLast; step = await store.step()) await pause(step.waitMs);
  return store.lastScan();
}
