import type { Redis } from 'ioredis';
import type { OverdueAfter } from '../domain/overdue';
import { systemClock } from '../platform/clock';
import { OVERDUE_KEYS } from './tow-filter';

/** How many tows that are overdue for two reasons are looked at, at most. */
const LOOKS_MAX = 10_000;
const SLICE = 1000;
/** Above this many looks a count is kept for a second. */
const LOOKS_AT_ONCE = 1000;
const KEPT_MS = 1000;

/** Tows of one index with a score below a limit. */
interface Part {
  readonly key: string;
  readonly before: number;
  readonly count: number;
}

/**
 * Counts the tows that are overdue for any reason, each once. Exact while at most 10,000 tows owe a report for too long, or
 * while at most 10,000 are too long in their state. Beyond that the share that is overdue for both reasons is taken from the
 * 10,000 oldest of the smaller group: the count is then an estimate, never below the larger group or above the sum.
 */
export async function countOverdue(redis: Redis, after: OverdueAfter, nowMs: number): Promise<number> {
  const times = [after.requestedMs, after.startedMs, after.reportMs];
  const [requested, started, owing] = await Promise.all(
    OVERDUE_KEYS.map(async (key, at): Promise<Part> => {
      const afterMs = times[at] ?? 0;
      const before = nowMs - afterMs;
      return { key, before, count: afterMs > 0 ? await redis.zcount(key, '-inf', `(${before}`) : 0 };
    }),
  );
  if (!requested || !started || !owing) return 0;
  // No tow is in two states, but a tow in either may owe a report too.
  const both = await Promise.all([requested, started].map((inState) => countOfBoth(redis, inState, owing)));
  const sum = requested.count + started.count + owing.count;
  return sum - both.reduce((total, count) => total + count, 0);
}

async function countOfBoth(redis: Redis, one: Part, other: Part): Promise<number> {
  const [small, large] = one.count <= other.count ? [one, other] : [other, one];
  if (small.count === 0) return 0;
  if (small.count <= LOOKS_AT_ONCE) return lookForBoth(redis, small, large);
  const name = `${small.key} ${large.key} ${large.before - small.before}`;
  return Math.min(small.count, await kept(redis, name, () => lookForBoth(redis, small, large)));
}

async function lookForBoth(redis: Redis, small: Part, large: Part): Promise<number> {
  let [looks, both] = [0, 0];
  while (looks < Math.min(small.count, LOOKS_MAX)) {
    const refs = await redis.zrangebyscore(small.key, '-inf', `(${small.before}`, 'LIMIT', looks, SLICE);
    if (refs.length === 0) break;
    const scores = await redis.zmscore(large.key, ...refs);
    both += scores.filter((score) => score !== null && Number(score) < large.before).length;
    looks += refs.length;
  }
  if (looks === 0 || small.count <= LOOKS_MAX) return Math.min(both, small.count);
  return Math.round((both / looks) * small.count);
}

interface Kept {
  readonly countedMs: number;
  readonly count: Promise<number>;
}
const keptOf = new WeakMap<Redis, Map<string, Kept>>();

/** One count per connection and second, however many pages ask for it; a failure is shared like a count. */
function kept(redis: Redis, name: string, count: () => Promise<number>): Promise<number> {
  const counts = keptOf.get(redis) ?? new Map<string, Kept>();
  keptOf.set(redis, counts);
  const nowMs = systemClock.monotonicMs();
  const last = counts.get(name);
  if (last && nowMs - last.countedMs < KEPT_MS) return last.count;
  const counted = { countedMs: nowMs, count: count() };
  counts.set(name, counted);
  return counted.count;
}
