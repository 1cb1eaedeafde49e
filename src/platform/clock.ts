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

/** The clock and randomness of the machine. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  id: () => randomUUID(),
};
