import type { Redis } from 'ioredis';

/** The time of Redis, ms since the epoch, rounded down. */
export async function redisTimeMs(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
