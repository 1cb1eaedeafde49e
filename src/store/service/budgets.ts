import type { Redis } from 'ioredis';
import { permitReply } from '../../contracts/replies';
import type { BudgetName } from '../../contracts/service/operations';
import type { RecordKind } from '../../domain/outbox/outbox-record';
import type { Budgets } from '../../workflow/service/service-port';
import { budgetKey, budgetStateField, KEYS } from '../keys';
import { texts } from '../redis/parse';
import { recordsOf } from '../outbox/records';
import { Script } from '../scripts';

const reservePermit = new Script('reserve-permit');
const observeLimit = new Script('observe-limit');

/** Calls per minute by budget; 0 = unlimited. */
export type BudgetSettings = Readonly<Record<BudgetName, number>>;

/** A limit of calls in any window of this length; limit 0 = unlimited. */
export interface RateLimit {
  readonly limit: number;
  readonly windowMs: number;
}

/** A window is 2 % longer than the minute of its limit: calls that leave a minute apart may arrive closer together. */
const WIDENED = 1.02;

/**
 * A call leaves within this time after its permit was granted, or needs another one. A permit counts from its grant, so
 * calls that leave late would add to the next window. The widened window covers this delay and some of the network.
 */
export const LEAVES_WITHIN_MS = 1000;

/** The rate limit of a budget. Tests pass a shorter `minuteMs`, as a minute would take them too long. */
export function slidingWindow(callsPerMinute: number, minuteMs = 60_000): RateLimit {
  return { limit: callsPerMinute, windowMs: Math.ceil(minuteMs * WIDENED) };
}

/** The rate limits of the records with an outbox. */
export type OutboxRateLimits = Readonly<Record<RecordKind, RateLimit>>;

/** Reports count against the budget `tow`, violations against `violations`. */
export function outboxRateLimits(settings: BudgetSettings): OutboxRateLimits {
  return { tow: slidingWindow(settings.tow), violation: slidingWindow(settings.violations) };
}

/** How long a permit is valid after its grant, ms. */
export function permitLifetimeMs({ windowMs }: Pick<RateLimit, 'windowMs'>): number {
  return (LEAVES_WITHIN_MS * windowMs) / (60_000 * WIDENED);
}

/** How long a limit that the service announced is followed after its last announcement, in minutes of the limit. */
const FOLLOWED_MINUTES = 10;
/** A higher announced limit is none: no operator makes so many calls. */
const FOLLOWED_MAX = 10_000;
/** The waits after 429s in a row that name none double from the first to the last, as shares of a minute. */
const FIRST_WAIT_SHARE = 1 / 60;
const LAST_WAIT_SHARE = 5;

/** The rate limits over all processes; see lua/shared/rate-limit.lua. */
export function createBudgets(redis: Redis, settings: BudgetSettings, minuteMs = 60_000): Budgets {
  return {
    async reserve(name, aheadMaxMs, insteadOfMs) {
      const { limit, windowMs } = slidingWindow(settings[name], minuteMs);
      const keys = [budgetKey(name), KEYS.circuits];
      const args = [limit, windowMs, Math.floor(aheadMaxMs), insteadOfMs ?? '', budgetStateField(name)];
      const reply = await reservePermit.run(redis, keys, args);
      const [granted, inMs, counts] = permitReply.parse(texts(reply, 'reserve-permit'));
      if (granted !== 1) return { granted: false, inMs };
      return { granted: true, inMs, lastsMs: counts === 0 ? Infinity : permitLifetimeMs({ windowMs }) };
    },

    async observe(name, { isRefusal, askedMs, perMinute, remaining, resetInMs }) {
      const { limit, windowMs } = slidingWindow(settings[name], minuteMs);
      const announced = perMinute !== null && perMinute <= FOLLOWED_MAX ? perMinute : '';
      const closedForMs = await observeLimit.run(
        redis,
        [KEYS.circuits, budgetKey(name)],
        [
          budgetStateField(name),
          windowMs,
          limit,
          announced,
          remaining ?? '',
          resetInMs ?? '',
          FOLLOWED_MINUTES * minuteMs,
          isRefusal ? '429' : '',
          askedMs ?? '',
          minuteMs * FIRST_WAIT_SHARE,
          minuteMs * LAST_WAIT_SHARE,
        ],
      );
      // Without our limit, claims ask for no permit until they read that the budget is restricted.
      recordsOf(redis).forgetCircuits();
      return { closedForMs: Number(closedForMs) };
    },
  };
}
