import type { Redis } from 'ioredis';
import type { OverdueAfter } from '../../domain/outbox/overdue';
import { systemClock } from '../../platform/clock';
import { unsentTowsKey, unsentViolationsKey } from '../keys';
import { overdueLimits, type OverdueLimits } from './tow-filter';

/** Tows that are checked for a second reason, at most. */
const CHECKED_MAX = 10_000;
const SLICE = 1000;
/** A count that checks more tows than this is cached for a second. */
const UNCACHED_MAX = 1000;
const CACHED_MS = 1000;

type OverduePart = OverdueLimits[number] & { readonly count: number };

/**
 * Counts the tows that are overdue for any reason, each once. Exact while one of the two groups, too long in their
 * state or with a report unsent for too long, has at most 10,000 tows. Otherwise the share of tows in both groups is
 * estimated from the 10,000 oldest of the smaller group. The estimate is never below the larger group or above the sum.
 */
export async function countOverdue(redis: Redis, after: OverdueAfter, nowMs: number): Promise<number> {
  const parts = await Promise.all(
    overdueLimits(after, nowMs).map(async ({ key, before }): Promise<OverduePart> => {
      return { key, before, count: await redis.zcount(key, '-inf', `(${before}`) };
    }),
  );
  // A tow is in one state, and may have an unsent report in each of them.
  const owing = parts.find(({ key }) => key === unsentTowsKey);
  const inState = parts.filter((part) => part !== owing);
  const both = owing ? await Promise.all(inState.map((part) => countOfBoth(redis, part, owing))) : [];
  const sum = parts.reduce((total, { count }) => total + count, 0);
  return sum - both.reduce((total, count) => total + count, 0);
}

async function countOfBoth(redis: Redis, one: OverduePart, other: OverduePart): Promise<number> {
  const [small, large] = one.count <= other.count ? [one, other] : [other, one];
  if (small.count === 0) return 0;
  if (small.count <= UNCACHED_MAX) return checkForBoth(redis, small, large);
  const name = `${small.key} ${large.key} ${large.before - small.before}`;
  return Math.min(small.count, await cached(redis, name, () => checkForBoth(redis, small, large)));
}

async function checkForBoth(redis: Redis, small: OverduePart, large: OverduePart): Promise<number> {
  let [checked, both] = [0, 0];
  while (checked < Math.min(small.count, CHECKED_MAX)) {
    const refs = await redis.zrangebyscore(small.key, '-inf', `(${small.before}`, 'LIMIT', checked, SLICE);
    if (refs.length === 0) break;
    const scores = await redis.zmscore(large.key, ...refs);
    both += scores.filter((score) => score !== null && Number(score) < large.before).length;
    checked += refs.length;
  }
  if (checked === 0 || small.count <= CHECKED_MAX) return Math.min(both, small.count);
  return Math.round((both / checked) * small.count);
}

interface CachedCount {
  readonly countedMs: number;
  readonly count: Promise<number>;
}
const cacheOf = new WeakMap<Redis, Map<string, CachedCount>>();

/** Caches one count per connection and second, for all pages. A failure is shared like a count. */
function cached(redis: Redis, name: string, count: () => Promise<number>): Promise<number> {
  const counts = cacheOf.get(redis) ?? new Map<string, CachedCount>();
  cacheOf.set(redis, counts);
  const nowMs = systemClock.monotonicMs();
  const last = counts.get(name);
  if (last && nowMs - last.countedMs < CACHED_MS) return last.count;
  const counted = { countedMs: nowMs, count: count() };
  counts.set(name, counted);
  return counted.count;
}

/** When the oldest unsettled report or check was recorded, if it is older than `reportMs`; else null. 0 = never. */
export async function overdueReportSince(redis: Redis, reportMs: number, nowMs: number): Promise<number | null> {
  if (reportMs === 0) return null;
  const oldest = await Promise.all(
    [unsentTowsKey, unsentViolationsKey].map((key) => redis.zrange(key, '0', '0', 'WITHSCORES')),
  );
  const sinceMs = Math.min(...oldest.flatMap(([, score]) => (score === undefined ? [] : [Number(score)])));
  return sinceMs < nowMs - reportMs ? sinceMs : null;
}
