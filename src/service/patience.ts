import type { Clock } from '../platform/clock';
import type { Outcome } from './exchange';
import { TransportFailure } from './transport-failure';

/** How long one call may still wait before its bytes leave: for its token and for slots of the budget. */
export interface Patience {
  /** Milliseconds; 0 once it is used up. */
  leftMs(): number;
  /** Makes a send; the time it takes is no waiting, unless it ended before anything left. */
  whileSending(send: () => Promise<Outcome>): Promise<Outcome>;
}

/** Begins now. */
export function startPatience(clock: Pick<Clock, 'monotonicMs'>, waitMs: number): Patience {
  let endsAtMs = clock.monotonicMs() + waitMs;
  return {
    leftMs: () => Math.max(0, endsAtMs - clock.monotonicMs()),
    async whileSending(send) {
      const fromMs = clock.monotonicMs();
      const outcome = await send();
      const hasLeft = !(outcome instanceof TransportFailure && outcome.phase === 'dropped');
      if (hasLeft) endsAtMs += clock.monotonicMs() - fromMs;
      return outcome;
    },
  };
}
