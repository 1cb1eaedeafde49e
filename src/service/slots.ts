import { setTimeout as waitMs } from 'node:timers/promises';
import type { BudgetName } from '../contracts/operations';
import type { Exchange } from '../domain/policy';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Budgets } from '../workflow/service-port';

/** A call that was not made, because its budget has no slot. */
type Dropped = Extract<Exchange, { kind: 'dropped' }>;

/** Takes slots of the budgets that all processes share. */
export interface Slots {
  /** Null when the call may be made now; waits up to `aheadMaxMs` for that. */
  take(budget: BudgetName, aheadMaxMs: number): Promise<Dropped | null>;
}

/** When the budgets cannot be asked, the call is not made: a limit of the service is not ours to break. */
const ASK_AGAIN_MS = 1000;

export function createSlots({ budgets, clock, log }: { budgets: Budgets; clock: Clock; log: Log }): Slots {
  const reserve = async (budget: BudgetName, aheadMaxMs: number) => {
    try {
      return await budgets.reserve(budget, aheadMaxMs);
    } catch (error) {
      log.warn('budget.failed', { budget, error_name: error instanceof Error ? error.name : 'unknown' });
      return { granted: false, inMs: ASK_AGAIN_MS };
    }
  };
  return {
    async take(budget, aheadMaxMs) {
      const slot = await reserve(budget, aheadMaxMs);
      if (!slot.granted) return { kind: 'dropped', notBeforeMs: clock.nowMs() + slot.inMs };
      if (slot.inMs > 0) await waitMs(slot.inMs);
      return null;
    },
  };
}
