import type { Redis } from 'ioredis';
import { eventually } from './eventually';

/** The time of a Redis server, whose clock stamps records, ms since the epoch. */
export async function redisNowMs(redis: Redis): Promise<number> {
  const [seconds, microseconds] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
}

/** Resolves when the server's clock is past `timestampMs`: what it stamps from then on is later. */
export async function untilAfter(redis: Redis, timestampMs: number): Promise<void> {
  await eventually(async () => expect(await redisNowMs(redis)).toBeGreaterThan(timestampMs));
}
