import type { Redis } from 'ioredis';
import { BUDGET_NAMES, type BudgetName } from '../contracts/operations';
import type { SendingView } from '../contracts/operator';
import { PAUSABLE_OPERATIONS } from '../domain/vocabulary';
import type { SendingStore } from '../workflow/ports';
import type { StoredToken } from '../workflow/service-port';
import { decodeCircuits } from '../contracts/stored-circuits';
import { CIRCUIT_NAMES, type CircuitName } from '../domain/circuits';
import { slidingWindow, type BudgetSettings } from './budgets';
import { blockedKey, budgetKey, KEYS } from './keys';
import { createTokenCache } from './tokens';

/** The circuits and rate limits that hold sending. */
export function createSendingStore(redis: Redis, budgets: BudgetSettings): SendingStore {
  return {
    async read() {
      const [nowMs, token, [version = null, json = null], held, waitingTows, waitingViolations] = await Promise.all([
        redis.time().then(([seconds]) => Number(seconds) * 1000),
        createTokenCache(redis).read(),
        redis.hmget(KEYS.circuits, 'v', 'circuits'),
        Promise.all(CIRCUIT_NAMES.map((name) => redis.scard(blockedKey(name)))),
        redis.zcard(KEYS.slotWaiting),
        redis.zcard(KEYS.violationSlotWaiting),
      ]);
      const used = await usedSlots(redis, budgets, nowMs);
      const circuits = decodeCircuits(version, json);
      const circuit = (name: CircuitName) => {
        const open = circuits.open[name];
        return open ? { since: iso(open.sinceMs), next_try_at: iso(open.untilMs) } : { since: null, next_try_at: null };
      };
      const [connection, outage] = [circuit('connection'), circuit('outage')];
      const operations = PAUSABLE_OPERATIONS.map((operation) => {
        const pause = circuit(`paused.${operation}`);
        return { operation, state: pause.next_try_at === null ? 'open' : 'paused', ...pause } as const;
      });
      const waiting: Partial<Record<BudgetName, number>> = { tow: waitingTows, violations: waitingViolations };
      return {
        connection: { state: connection.next_try_at === null ? 'working' : 'broken', ...connection },
        service: {
          state: outage.next_try_at === null ? 'working' : 'down',
          ...outage,
          failures: circuits.failures,
        },
        operations,
        token: tokenState(token, nowMs),
        held: held.reduce((total, count) => total + count, 0),
        budgets: used.map((budget) => ({ ...budget, waiting: waiting[budget.name] ?? 0 })),
      };
    },
  };
}

type Used = Omit<SendingView['budgets'][number], 'waiting'>;

/** How many slots of the last minute are taken, by budget. */
async function usedSlots(redis: Redis, budgets: BudgetSettings, nowMs: number): Promise<Used[]> {
  const usedOf = async (name: BudgetName) => {
    const { limit, windowMs } = slidingWindow(budgets[name]);
    const slots = limit === 0 ? [] : await redis.lrange(budgetKey(name), 0, limit - 1);
    const sinceMs = nowMs - windowMs;
    return { name, per_minute: limit, used: slots.filter((at) => Number(at) > sinceMs).length };
  };
  return Promise.all(BUDGET_NAMES.map(usedOf));
}

function tokenState(token: StoredToken | null, nowMs: number): SendingView['token'] {
  if (token === null) return { state: 'none', expires_at: null };
  const { expiresAtMs } = token;
  if (expiresAtMs === null) return { state: 'valid', expires_at: null };
  return { state: expiresAtMs > nowMs ? 'valid' : 'expired', expires_at: new Date(expiresAtMs).toISOString() };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
