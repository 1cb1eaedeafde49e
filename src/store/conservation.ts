import type { Redis } from 'ioredis';
import { scanState, walkRecord, type ScanProgress, type Tally } from '../contracts/conservation';
import type { CheckedItem } from '../domain/conservation';
import { versionNumber } from '../domain/outbox-record';
import { recordsLostTask } from '../domain/tasks';
import { systemClock } from '../platform/clock';
import type { ConservationStore, WalkStep } from '../workflow/conservation-port';
import type { Effect } from './commit';
import { checkEntries } from './check-entries';
import { closingOf, openingOf } from './task-changes';
import { KEYS } from './keys';
import { entriesBehind, ledgerEnds, ledgerSize, type LedgerEntry } from './ledger';
import { recordsOf } from './records';

export interface WalkSettings {
  /** How many names one step checks. */
  readonly namesPerStep: number;
  /** The pause between steps of all processes together, at least. */
  readonly paceMs: number;
  /** The pause after a step, as a multiple of how long the step took: it bounds the load on a process. */
  readonly restFactor: number;
  /** A scan that would take longer rests less, but never less than half of the time it works. */
  readonly scanWithinMs: number;
  /** From the beginning of one scan to the beginning of the next, at least. */
  readonly walkEveryMs: number;
}

/**
 * A scan takes a twentieth of the time of one process, and with more than about 100,000 stored tows up to two thirds: what is
 * lost right behind the place where a scan is must be found by the next one within a quarter of an hour.
 */
export const WALK_SETTINGS: WalkSettings = {
  namesPerStep: 1000,
  paceMs: 100,
  restFactor: 19,
  scanWithinMs: 400_000,
  walkEveryMs: 5000,
};

/** A process that takes a step and is lost holds the others up for so long. */
const STEP_LASTS_MS = 10_000;
/** While another process takes a step, look again after this. */
const LOOK_AGAIN_MS = 500;
const LOST_NAMES_MAX = 100;
/** What the scan writes replaces what it wrote before, and work that it puts back on a schedule frees memory. */
const WHEN_FULL = { drains: true } as const;

/**
 * The scan over the ledger in Redis. Its progress is one versioned record: a process takes a step, checks the next names,
 * and commits what it found; a step that took too long and was taken over by another process is dropped.
 */
export function createConservationStore(redis: Redis, settings: WalkSettings = WALK_SETTINGS): ConservationStore {
  const records = recordsOf(redis);
  const { namesPerStep, paceMs, walkEveryMs } = settings;

  const write = (expected: string, set: Readonly<Record<string, string>>, more: { isLast?: boolean } = {}) => {
    const version = `${versionNumber(expected) + 1}.${systemClock.id().slice(0, 8)}`;
    const remove = [...(more.isLast ? ['progress'] : []), ...('busy_until' in set ? [] : ['busy_until'])];
    return { version, change: { key: KEYS.walk, expected, version, set, remove } };
  };

  return {
    async step(): Promise<WalkStep> {
      const beganMs = systemClock.monotonicMs();
      const [hash, nowMs] = await Promise.all([redis.hgetall(KEYS.walk), records.nowMs()]);
      const state = scanState.parse(hash);
      const tooEarlyMs = waitOf(state, nowMs, settings);
      if (tooEarlyMs > 0) return { isLast: false, waitMs: tooEarlyMs };
      const taken = write(state.v, { busy_until: String(nowMs + STEP_LASTS_MS) });
      const reply = await records.commit({ records: [taken.change], effects: [] }, WHEN_FULL);
      if (reply.kind !== 'done') return { isLast: false, waitMs: Math.max(paceMs, LOOK_AGAIN_MS) };

      const before = state.progress ?? newProgress(nowMs, await ledgerEnds(redis));
      const entries = await entriesBehind(redis, before, namesPerStep);
      const items = await checkEntries(redis, entries, nowMs);
      const isLast = entries.length < namesPerStep;
      const progress = advanced(before, entries, items);

      const task = await taskChange(redis, { progress, items, isLast, nowMs });
      const tookMs = systemClock.monotonicMs() - beganMs;
      const restMs = restAfter(tookMs, entries.length / Math.max(1, await ledgerSize(redis)), settings);
      const endedMs = await records.nowMs();
      const nextAtMs = isLast ? Math.max(endedMs + restMs, progress.startedAtMs + walkEveryMs) : endedMs + restMs;
      const next_at = String(Math.round(nextAtMs));
      const ended = write(taken.version, isLast ? { next_at } : { next_at, progress: JSON.stringify(progress) }, {
        isLast,
      });
      const effects = [...(task?.effects ?? []), ...(isLast ? publishing(progress, endedMs) : [])];
      const written = await records.commit({ records: [ended.change], checks: task?.checks ?? [], effects }, WHEN_FULL);
      if (written.kind !== 'done') return { isLast: false, waitMs: paceMs };
      return { isLast, waitMs: Math.max(0, Math.round(nextAtMs - endedMs)) };
    },

    async lastWalk() {
      const [hash, nowMs] = await Promise.all([redis.hgetall(KEYS.lastWalk), records.nowMs()]);
      if (hash['ended_at'] === undefined) return null;
      const walk = walkRecord.parse({
        ...hash,
        deliveries: fieldsOf(hash, 'deliveries.'),
        reports: fieldsOf(hash, 'reports.'),
        violations: fieldsOf(hash, 'violations.'),
      });
      return { ...walk, ageMs: Math.max(0, nowMs - walk.endedAtMs) };
    },
  };
}

/** The pause after a step that checked `share` of the ledger. */
function restAfter(tookMs: number, share: number, { paceMs, restFactor, scanWithinMs }: WalkSettings): number {
  const inTimeMs = Math.max(scanWithinMs * share - tookMs, tookMs / 2);
  return Math.max(paceMs, Math.min(STEP_LASTS_MS, restFactor * tookMs, inTimeMs));
}

/** How long a step is too early, ms. A clock that was set back must not stop the scan. */
function waitOf(
  { next_at, busy_until }: { next_at: number; busy_until: number },
  nowMs: number,
  { paceMs, walkEveryMs }: WalkSettings,
): number {
  const busyMs = busy_until - nowMs;
  if (busyMs > 0 && busyMs <= STEP_LASTS_MS) return Math.max(paceMs, Math.min(LOOK_AGAIN_MS, busyMs));
  const waitMs = next_at - nowMs;
  return waitMs <= Math.max(paceMs, walkEveryMs, STEP_LASTS_MS) ? waitMs : 0;
}

const NO_TALLY: Tally = { acknowledged: 0, finished: 0, waiting: 0, parked: 0, with_a_person: 0, lost: 0, repaired: 0 };

function newProgress(nowMs: number, ends: ScanProgress['ends']): ScanProgress {
  const tallies = { deliveries: NO_TALLY, reports: NO_TALLY, violations: NO_TALLY };
  return { startedAtMs: nowMs, ends, place: null, tallies, lostNames: [] };
}

function advanced(before: ScanProgress, entries: readonly LedgerEntry[], items: readonly CheckedItem[]): ScanProgress {
  const tallies = {
    deliveries: { ...before.tallies.deliveries },
    reports: { ...before.tallies.reports },
    violations: { ...before.tallies.violations },
  };
  for (const { name, state, isRepairable } of items) {
    const tally = tallies[kindOf(name)];
    tally.acknowledged += 1;
    tally[state] += 1;
    if (isRepairable) tally.repaired += 1;
  }
  const lost = items.filter(({ state }) => state === 'lost').map(({ name }) => name.replaceAll('\n', ' '));
  const lostNames = [...before.lostNames, ...lost].slice(0, LOST_NAMES_MAX);
  return { ...before, place: entries.at(-1) ?? before.place, tallies, lostNames };
}

function kindOf(name: string): keyof ScanProgress['tallies'] {
  if (name.startsWith('delivery ')) return 'deliveries';
  return name.startsWith('violation ') ? 'violations' : 'reports';
}

/** The task about what is lost is open from the first item found until a whole scan finds none. */
async function taskChange(
  redis: Redis,
  found: { progress: ScanProgress; items: readonly CheckedItem[]; isLast: boolean; nowMs: number },
) {
  const { progress, items, isLast, nowMs } = found;
  if (items.some(({ state }) => state === 'lost')) return openingOf(redis, recordsLostTask, nowMs);
  if (isLast && progress.lostNames.length === 0) return closingOf(redis, recordsLostTask.subject, nowMs);
  return null;
}

/** Makes a complete scan the last one. */
function publishing({ startedAtMs, tallies, lostNames }: ScanProgress, endedAtMs: number): Effect[] {
  const counts = Object.entries(tallies).flatMap(([kind, tally]) =>
    Object.entries(tally).flatMap(([state, count]) => [`${kind}.${state}`, count]),
  );
  const moments = ['started_at', Math.round(startedAtMs), 'ended_at', Math.round(endedAtMs)];
  return [
    ['DEL', KEYS.lastWalk],
    ['HSET', KEYS.lastWalk, ...moments, 'lost_names', JSON.stringify(lostNames), ...counts],
  ];
}

/** The fields of a hash that begin with a prefix, without it. */
function fieldsOf(hash: Readonly<Record<string, string>>, prefix: string): Record<string, string> {
  const fields = Object.entries(hash).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(fields.map(([name, value]) => [name.slice(prefix.length), value]));
}
