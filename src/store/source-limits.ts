import type { Redis } from 'ioredis';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { WrongKeyLimit } from '../workflow/operator-port';
import type { CallCounter } from '../workflow/ports';
import { CALLS_PREFIX, WRONG_KEYS_PREFIX } from './keys';

/**
 * Limits per source address, counted in Redis for all processes. While Redis fails, each process counts for itself, so a
 * limit never makes a request fail.
 */

const WINDOW_S = 60;
/** Wrong API keys of one source within a minute. */
export const WRONG_KEYS_MAX = 10;

/** A source over its limit is kept in memory until its window ends, so that further wrong keys cost no call to Redis. */
export function createWrongKeyLimit(redis: Redis): WrongKeyLimit {
  const limit = { points: WRONG_KEYS_MAX, duration: WINDOW_S, keyPrefix: WRONG_KEYS_PREFIX };
  const limiter = new RateLimiterRedis({
    ...limit,
    storeClient: redis,
    inMemoryBlockOnConsumed: WRONG_KEYS_MAX,
    insuranceLimiter: new RateLimiterMemory(limit),
  });
  return {
    async count(source) {
      try {
        await limiter.consume(source);
        return null;
      } catch (rejection) {
        if (rejection instanceof RateLimiterRes) return rejection.msBeforeNext;
        throw rejection;
      }
    },
  };
}

/** Counts the webhooks of a source within a minute. The receiver compares the count with its limit. */
export function createCallCounter(redis: Redis): CallCounter {
  // `points` has no effect, because `penalty` counts without a limit.
  const settings = { points: 1, duration: WINDOW_S, keyPrefix: CALLS_PREFIX };
  const counter = new RateLimiterRedis({
    ...settings,
    storeClient: redis,
    rejectIfRedisNotReady: true,
    insuranceLimiter: new RateLimiterMemory(settings),
  });
  return {
    async count(source) {
      const { consumedPoints, msBeforeNext } = await counter.penalty(source);
      return { calls: consumedPoints, windowEndsInMs: msBeforeNext };
    },
  };
}
