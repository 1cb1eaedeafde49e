import type { Clock } from '../platform/clock';

/** How long one call may still wait before its bytes leave: for its token and for permits of the budget. */
export interface Patience {
  /** Milliseconds; 0 once it is used up. */
  leftMs(): number;
  /** What follows is no waiting: a connection is opened, or a call is under way. */
  pause(): void;
  resume(): void;
}

/** Begins now. */
export function startPatience(clock: Pick<Clock, 'monotonicMs'>, waitMs: number): Patience {
  let endsAtMs = clock.monotonicMs() + waitMs;
  let pausedAtMs: number | null = null;
  return {
    leftMs: () => Math.max(0, endsAtMs - (pausedAtMs ?? clock.monotonicMs())),
    pause() {
      pausedAtMs ??= clock.monotonicMs();
    },
    resume() {
      if (pausedAtMs !== null) endsAtMs += clock.monotonicMs() - pausedAtMs;
      pausedAtMs = null;
    },
  };
}
