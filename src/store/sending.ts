import type { Redis } from 'ioredis';
import { BUDGET_NAMES, type BudgetName } from '../contracts/operations';
import type { SendingView } from '../contracts/operator';
import { PAUSABLE_OPERATIONS } from '../domain/vocabulary';
import type { SendingStore } from '../workflow/ports';
import type { StoredToken } from '../workflow/service-port';
import { slidingWindow, type BudgetSettings } from './budgets';
import { budgetKey, heldByKey, KEYS, towKeys } from './keys';
import { savedOf } from './saved';
import { Script } from './scripts';
import { createTokenCache } from './tokens';
import { wellFormedJson } from './well-formed';

const resumeOperation = new Script('resume-operation');
const GATES = ['connection', 'outage', ...PAUSABLE_OPERATIONS.map((operation) => `paused.${operation}`)];

/** The gates and budgets that hold sending; see lua/shared/gates.lua and lua/shared/budget.lua. */
export function createSendingStore(redis: Redis, budgets: BudgetSettings): SendingStore {
  return {
    async read() {
      const [nowMs, token, gates, held, waitingTows, waitingViolations] = await Promise.all([
        redis.time().then(([seconds]) => Number(seconds) * 1000),
        createTokenCache(redis).read(),
        redis.hgetall(KEYS.gates),
        Promise.all(GATES.map((name) => redis.scard(heldByKey(name)))),
        redis.zcard(KEYS.slotWaiting),
        redis.zcard(KEYS.violationSlotWaiting),
      ]);
      const used = await usedSlots(redis, budgets, nowMs);
      const gate = async (name: string) => {
        const until = gates[`${name}.until`];
        if (until === undefined) return { since: null, next_try_at: null };
        const since = await redis.zscore(KEYS.openTasks, name);
        return { since: since === null ? null : iso(since), next_try_at: iso(until) };
      };
      const [connection, outage] = await Promise.all([gate('connection'), gate('outage')]);
      const operations = await Promise.all(
        PAUSABLE_OPERATIONS.map(async (operation) => {
          const pause = await gate(`paused.${operation}`);
          return { operation, state: pause.next_try_at === null ? 'open' : 'paused', ...pause } as const;
        }),
      );
      const waiting: Partial<Record<BudgetName, number>> = { tow: waitingTows, violations: waitingViolations };
      return {
        connection: { state: connection.next_try_at === null ? 'working' : 'broken', ...connection },
        service: {
          state: outage.next_try_at === null ? 'working' : 'down',
          ...outage,
          failures: Number(gates['outage.failures'] ?? 0),
        },
        operations,
        token: tokenState(token, nowMs),
        held: held.reduce((total, count) => total + count, 0),
        budgets: used.map((budget) => ({ ...budget, waiting: waiting[budget.name] ?? 0 })),
      };
    },

    async resume(operation, { audit, remember }) {
      const keys = towKeys('', remember ? { idempotencyScope: remember.scope } : {});
      const args = [operation, remember?.fingerprint ?? '', wellFormedJson(audit)];
      return savedOf(await resumeOperation.run(redis, keys, args), 'resume-operation');
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

function iso(ms: string): string {
  return new Date(Number(ms)).toISOString();
}
