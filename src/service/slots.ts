import { setTimeout as waitMs } from 'node:timers/promises';
import type { BudgetName } from '../contracts/operations';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Budgets, Reserved } from '../workflow/service-port';
import type { SendPermission } from './attempt';

export type Denied = Extract<SendPermission, { readonly granted: false }>;

/** Takes slots of the budgets that all processes share. */
export interface Slots {
  /** A denial that is known before a connection is opened: an earlier call found that no slot comes within `leftMs`. */
  deniedFor(budget: BudgetName, leftMs: number): Denied | null;
  /**
   * Permits one send once a slot has come; waits for it no longer than `leftMs`.
   * A process that froze with a slot in its hands takes another one, a few times, since a call that left late would count
   * in another minute than its slot was counted in.
   */
  take(budget: BudgetName, options: TakeOptions): Promise<SendPermission>;
}

export interface TakeOptions {
  readonly leftMs: () => number;
  /** A slot that was taken and never used, ms since the epoch in Redis time: it is given back for the new one. */
  readonly insteadOfMs?: number | undefined;
}

/** When the budgets cannot be asked, the call is not made: a limit of the service is not ours to break. */
const ASK_AGAIN_MS = 1000;
/** How many slots one send may let grow old: more, and this process is too busy to send at all. */
const SLOTS_PER_SEND_MAX = 3;

export function createSlots({ budgets, clock, log }: { budgets: Budgets; clock: Clock; log: Log }): Slots {
  const reserve = async (...[budget, aheadMaxMs, insteadOfMs]: Parameters<Budgets['reserve']>): Promise<Reserved> => {
    try {
      return await budgets.reserve(budget, aheadMaxMs, insteadOfMs);
    } catch (error) {
      log.warn('budget.failed', { budget, error_name: error instanceof Error ? error.name : 'unknown' });
      return { granted: false, inMs: ASK_AGAIN_MS };
    }
  };
  const spentUntilMs = new Map<BudgetName, number>();
  const denied = (inMs: number): Denied => ({ granted: false, notBeforeMs: clock.nowMs() + inMs });
  return {
    deniedFor(budget, leftMs) {
      const inMs = (spentUntilMs.get(budget) ?? -Infinity) - clock.monotonicMs();
      return inMs > leftMs ? denied(inMs) : null;
    },
    async take(budget, { leftMs, insteadOfMs }) {
      for (let nth = 1; nth <= SLOTS_PER_SEND_MAX; nth += 1) {
        // The slot was counted somewhere between the question and its answer: at the earliest now.
        const askedAtMs = clock.monotonicMs();
        const slot = await reserve(budget, leftMs(), nth === 1 ? insteadOfMs : undefined);
        if (!slot.granted) {
          spentUntilMs.set(budget, clock.monotonicMs() + slot.inMs);
          return denied(slot.inMs);
        }
        if (slot.inMs > 0) await waitMs(slot.inMs);
        if (clock.monotonicMs() < askedAtMs + slot.inMs + slot.lastsMs) return { granted: true };
      }
      return { granted: false, notBeforeMs: null };
    },
  };
}
