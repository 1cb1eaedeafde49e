import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes, type RateLimiterAbstract } from 'rate-limiter-flexible';
import { within } from '../../platform/timers';
import { SIGN_IN_LIMIT_MS, type SignInLimit } from '../../workflow/identity-port';
import type { SourceLimit } from '../../workflow/operator-port';
import type { CallCounter } from '../../workflow/ports';
import { CALLS_PREFIX, SIGN_IN_RETURNS_PREFIX, SIGN_IN_STARTS_PREFIX, WRONG_KEYS_PREFIX } from '../keys';

/**
 * Limits per source address or sign-in, counted in Redis for all processes. While Redis fails, or is too slow for a
 * webhook, each process counts for itself, so a limit never makes a request fail. Forms without a session always count per
 * process, because their limit protects its time.
 */

const WINDOW_S = 60;
/** Wrong API keys of one source within a minute. */
export const WRONG_KEYS_MAX = 10;
/** The webhook is stored after its count: see STORED_WITHIN_COMMANDS of deliveries.ts. */
const COUNTED_WITHIN_MS = 300;
/** Sign-ins of one source that begin within a minute and lead to no session. */
export const SIGN_IN_STARTS_MAX = 60;
/** Returns to one sign-in. A page that is loaded again returns twice. */
export const SIGN_IN_RETURNS_MAX = 3;

/** Forms of one source without a session that a process reads within a minute. */
export const STRANGE_FORMS_MAX = 60;

export function createFormLimit(): SourceLimit {
  const limiter = new RateLimiterMemory({ points: STRANGE_FORMS_MAX, duration: WINDOW_S });
  return { count: (source) => consume(limiter, source) };
}

export function createWrongKeyLimit(redis: Redis): SourceLimit {
  const limiter = openLimiter(redis, { points: WRONG_KEYS_MAX, duration: WINDOW_S, keyPrefix: WRONG_KEYS_PREFIX });
  return { count: (source) => consume(limiter, source) };
}

export function createSignInLimit(redis: Redis): SignInLimit {
  const starts = { points: SIGN_IN_STARTS_MAX, duration: WINDOW_S, keyPrefix: SIGN_IN_STARTS_PREFIX };
  const returns = {
    points: SIGN_IN_RETURNS_MAX,
    duration: SIGN_IN_LIMIT_MS / 1000,
    keyPrefix: SIGN_IN_RETURNS_PREFIX,
  };
  const [ofStarts, ofReturns] = [openLimiter(redis, starts), openLimiter(redis, returns)];
  return {
    countStart: (source) => consume(ofStarts, source),
    countReturn: (state) => consume(ofReturns, state),
    async forgiveStart(source) {
      await ofStarts.reward(source);
    },
  };
}

/** What is over its limit is kept in memory until its window ends, so that further attempts cost no call to Redis. */
function openLimiter(
  redis: Redis,
  limit: { readonly points: number; readonly duration: number; readonly keyPrefix: string },
): RateLimiterRedis {
  return new RateLimiterRedis({
    ...limit,
    storeClient: redis,
    inMemoryBlockOnConsumed: limit.points,
    insuranceLimiter: new RateLimiterMemory(limit),
  });
}

/** Counts one. Returns null, or the ms until the next when the limit is reached. */
async function consume(limiter: RateLimiterAbstract, key: string): Promise<number | null> {
  try {
    await limiter.consume(key);
    return null;
  } catch (rejection) {
    if (rejection instanceof RateLimiterRes) return rejection.msBeforeNext;
    throw rejection;
  }
}

/** Counts the webhooks of a source within a minute. The receiver compares the count with its limit. */
export function createCallCounter(redis: Redis): CallCounter {
  // `points` has no effect, because `penalty` counts without a limit.
  const settings = { points: 1, duration: WINDOW_S, keyPrefix: CALLS_PREFIX };
  const counter = new RateLimiterRedis({ ...settings, storeClient: redis, rejectIfRedisNotReady: true });
  const ownCounter = new RateLimiterMemory(settings);
  return {
    async count(source) {
      // Always, so that it is complete when Redis is slow for a moment.
      const own = await ownCounter.penalty(source);
      const counted = await within(COUNTED_WITHIN_MS, counter.penalty(source));
      const { consumedPoints, msBeforeNext } = counted?.value ?? own;
      return { calls: consumedPoints, windowEndsInMs: msBeforeNext };
    },
  };
}
