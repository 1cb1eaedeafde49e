import type { Redis } from 'ioredis';
import { slotReply } from '../contracts/replies';
import type { BudgetName } from '../contracts/operations';
import type { Budgets } from '../workflow/service-port';
import { budgetKey } from './keys';
import { texts } from './parse';
import { Script } from './scripts';

const reserveSlot = new Script('reserve-slot');

/** Calls per minute by budget; 0 = any number. */
export type BudgetSettings = Readonly<Record<BudgetName, number>>;

/**
 * Two percent longer than the minute a budget is counted over: calls granted a minute apart may arrive a little closer
 * together.
 */
const WIDENED = 1.02;

/**
 * A call that was granted a slot leaves within this time or not at all. Slots are counted when they are granted, so a
 * busy process that sent late would push its calls into the next minute; what the window is widened by covers this and
 * leaves the rest to the network.
 */
export const LEAVES_WITHIN_MS = 1000;

/** How a budget is counted: so many calls in any window of this length. The minute is shortened by tests alone. */
export function slidingWindow(callsPerMinute: number, minuteMs = 60_000): { limit: number; windowMs: number } {
  return { limit: callsPerMinute, windowMs: Math.ceil(minuteMs * WIDENED) };
}

/** How long a slot of a budget is fresh, counted from its grant; Infinity where nothing is counted. */
export function slotLastsMs({ limit, windowMs }: { limit: number; windowMs: number }): number {
  return limit === 0 ? Infinity : (LEAVES_WITHIN_MS * windowMs) / (60_000 * WIDENED);
}

/** The budgets of all processes together; see lua/shared/budget.lua. */
export function createBudgets(redis: Redis, settings: BudgetSettings, minuteMs = 60_000): Budgets {
  return {
    async reserve(name, aheadMaxMs, insteadOfMs) {
      const { limit, windowMs } = slidingWindow(settings[name], minuteMs);
      const lastsMs = slotLastsMs({ limit, windowMs });
      if (limit === 0) return { granted: true, inMs: 0, lastsMs };
      const args = [limit, windowMs, Math.floor(aheadMaxMs), insteadOfMs ?? ''];
      const reply = await reserveSlot.run(redis, [budgetKey(name)], args);
      const [granted, inMs] = slotReply.parse(texts(reply, 'reserve-slot'));
      return granted === 1 ? { granted: true, inMs, lastsMs } : { granted: false, inMs };
    },
  };
}
