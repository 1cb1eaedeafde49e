import { setTimeout as waitMs } from 'node:timers/promises';
import type { BudgetName } from '../contracts/operations';
import type { Exchange } from '../domain/policy';
import type { Clock } from '../platform/clock';
import type { Log } from '../platform/log';
import type { Budgets, Reserved } from '../workflow/service-port';
import type { Outcome } from './exchange';

/** A call that was not made, because its budget has no slot. */
export type Dropped = Extract<Exchange, { kind: 'dropped' }>;

/** The right to make one call now. */
export interface Slot {
  readonly kind: 'slot';
  /** False once the slot has grown too old: a call that left now would count in another minute than it was counted in. */
  isFresh(): boolean;
}

/** Takes slots of the budgets that all processes share. */
export interface Slots {
  /** A slot once it has come; waits up to `aheadMaxMs` for that. */
  take(budget: BudgetName, aheadMaxMs: number): Promise<Slot | Dropped>;
}

/** When the budgets cannot be asked, the call is not made: a limit of the service is not ours to break. */
const ASK_AGAIN_MS = 1000;
/** How many slots one send may let grow old: more, and this process is too busy to send at all. */
const SLOTS_PER_SEND_MAX = 3;

export function createSlots({ budgets, clock, log }: { budgets: Budgets; clock: Clock; log: Log }): Slots {
  const reserve = async (budget: BudgetName, aheadMaxMs: number): Promise<Reserved> => {
    try {
      return await budgets.reserve(budget, aheadMaxMs);
    } catch (error) {
      log.warn('budget.failed', { budget, error_name: error instanceof Error ? error.name : 'unknown' });
      return { granted: false, inMs: ASK_AGAIN_MS };
    }
  };
  return {
    async take(budget, aheadMaxMs) {
      // The slot was counted somewhere between the question and its answer: at the earliest now.
      const askedAtMs = clock.monotonicMs();
      const slot = await reserve(budget, aheadMaxMs);
      if (!slot.granted) return { kind: 'dropped', notBeforeMs: clock.nowMs() + slot.inMs };
      if (slot.inMs > 0) await waitMs(slot.inMs);
      const leavesByMs = askedAtMs + slot.inMs + slot.lastsMs;
      return { kind: 'slot', isFresh: () => clock.monotonicMs() < leavesByMs };
    },
  };
}

/**
 * Takes a slot and sends in it. A process that froze in between, or whose connection took too long to open, finds its slot
 * too old and takes another, a few times and within what is left of its wait; then the call is dropped, with nothing sent.
 */
export async function sendInSlot(plan: {
  readonly take: () => Promise<Slot | Dropped>;
  readonly maySend: () => boolean;
  /** Sends unless `maySend`, asked right before the first byte, forbids it. */
  readonly send: (maySend: () => boolean) => Promise<Outcome>;
}): Promise<Outcome | Dropped> {
  for (let nth = 1; ; nth += 1) {
    const slot = await plan.take();
    if (slot.kind === 'dropped') return slot;
    let grewOld = false;
    const outcome = await plan.send(() => {
      grewOld = !slot.isFresh();
      return !grewOld && plan.maySend();
    });
    if (!grewOld || nth === SLOTS_PER_SEND_MAX) return outcome;
  }
}
