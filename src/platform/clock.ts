import { randomUUID } from 'node:crypto';

/** The only source of time, randomness and ids; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds of a monotonic clock; only differences are meaningful. */
  monotonicMs(): number;
  /** A number in [0, 1). For jitter, never for secrets. */
  random(): number;
  /** A random UUID. */
  id(): string;
}

/**
 * Starts to measure an age. The returned function gives it in ms, never too low: what the two clocks move apart counts as
 * time. The monotonic clock stops while a machine sleeps or a virtual one is paused, and the time of day may be set.
 */
export function startAge(clock: Pick<Clock, 'nowMs' | 'monotonicMs'>): () => number {
  const [startedAtMs, startedMs] = [clock.nowMs(), clock.monotonicMs()];
  return () => {
    const ranMs = clock.monotonicMs() - startedMs;
    return ranMs + Math.abs(clock.nowMs() - startedAtMs - ranMs);
  };
}

/** The clock and randomness of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  id: () => randomUUID(),
};
