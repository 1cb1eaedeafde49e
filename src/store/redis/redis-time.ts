import type { Redis } from 'ioredis';

/** The time of Redis, ms since the epoch, rounded down. */
export async function redisTimeMs(redis: Redis): Promise<number> {
  return Math.floor((await redisTimeUs(redis)) / 1000);
}

/** The time of Redis, microseconds since the epoch. */
export async function redisTimeUs(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1_000_000 + Number(micros);
}

/** After this time without a reply that has the time, Redis is asked. */
const KEPT_MS = 60_000;
/** Until then the local clock and that of Redis differ by less than a millisecond. */
const CLOSEST_KEPT_MS = 10_000;

/**
 * Estimates the time of Redis from a local clock and the times in its replies. The estimate lags by the shortest delay of
 * a reply, not by that of the last one: a process that was busy when a reply came would take due work for future work.
 */
export class RedisClock {
  #offsetMs: number | null = null;
  #closestAtMs = 0;
  #measuredAtMs = 0;

  constructor(
    private readonly redis: Redis,
    /** Monotonic, because a change of the time of day must not end a lease. */
    private readonly monotonicMs: () => number,
  ) {}

  /** Redis time, Unix ms. Rejects when Redis must be asked and does not answer. */
  async nowMs(): Promise<number> {
    const localMs = this.monotonicMs();
    if (this.#offsetMs === null || localMs - this.#measuredAtMs > KEPT_MS) {
      this.measured(await redisTimeMs(this.redis), localMs);
    }
    // Rounded up, so that work that is due now in Redis is due here too.
    return Math.ceil(this.monotonicMs() + (this.#offsetMs ?? 0));
  }

  /** Corrects the estimate by a reply that has just come, to a call that was sent at `sentMs` of the local clock. */
  measured(redisMs: number, sentMs: number): void {
    const receivedMs = this.monotonicMs();
    const lowest = redisMs - receivedMs;
    // The time in the reply is rounded down.
    const highest = redisMs + 1 - sentMs;
    this.#measuredAtMs = receivedMs;
    const known = receivedMs - this.#closestAtMs <= CLOSEST_KEPT_MS ? this.#offsetMs : null;
    // Above `highest`, the clock of Redis was set back.
    if (known !== null && known >= lowest && known <= highest) return;
    this.#offsetMs = lowest;
    this.#closestAtMs = receivedMs;
  }
}
