import { randomUUID } from 'node:crypto';

/** Time, randomness and ids: the only place they come from, so that whoever needs them can be handed others. */
export interface Clock {
  /** Milliseconds since the epoch. */
  nowMs(): number;
  /** Milliseconds of a clock that never jumps; only differences mean anything. */
  monotonicMs(): number;
  /** A number from 0 up to, not including, 1. For jitter, never for secrets. */
  random(): number;
  /** A fresh id that no other process makes. */
  id(): string;
}

/** The machine's own clock and randomness. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  random: () => Math.random(),
  id: () => randomUUID(),
};
