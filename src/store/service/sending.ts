import { decodeCircuits } from '../../domain/service/stored-circuits';
import { ENTRY_KINDS, CIRCUIT_NAMES, type CircuitName } from '../../domain/vocabulary';
import type { Redis } from 'ioredis';
import { BUDGET_NAMES, type BudgetName } from '../../contracts/service/operations';
import type { SendingView } from '../../contracts/operator';
import { refusesCredentials } from '../../domain/ops/tasks';
import { isoTimestamp } from '../../domain/timestamp';
import type { SendingStore } from '../../workflow/ports';
import type { StoredToken } from '../../workflow/service/service-port';
import { decodeBudgetState, followedLimit, type StoredBudgetState } from '../../contracts/service/stored-budgets';
import { modeViewOf } from '../../workflow/outbox/service-mode';
import { isStoppedBySwitch, recentFailures, stoppedSinceMs } from '../../domain/service/circuits';
import { slidingWindow, type BudgetSettings } from './budgets';
import { blockedKey, budgetKey, budgetStateField, KEYS } from '../keys';
import { redisTimeMs } from '../redis/redis-time';
import { readTokenEnd } from './tokens';

/** The circuits and rate limits that delay sending. */
export function createSendingStore(redis: Redis, budgets: BudgetSettings): SendingStore {
  const heldBy = CIRCUIT_NAMES.map(blockedKey);
  const held = async () => {
    // Mostly none is open, and one command shows it.
    if ((await redis.exists(...heldBy)) === 0) return 0;
    const counts = await Promise.all(heldBy.map((key) => redis.scard(key)));
    return counts.reduce((total, count) => total + count, 0);
  };
  return {
    held,

    async read() {
      const [nowMs, token, stored, heldNow, waitingTows, waitingViolations] = await Promise.all([
        redisTimeMs(redis),
        readTokenEnd(redis),
        redis.hgetall(KEYS.circuits),
        held(),
        redis.zcard(KEYS.permitQueueTows),
        redis.zcard(KEYS.permitQueueViolations),
      ]);
      const stateOf = (name: BudgetName) => decodeBudgetState(stored[budgetStateField(name)]);
      const used = await usedPermits(redis, budgets, { nowMs, stateOf });
      const circuits = decodeCircuits(stored['v'] ?? null, stored['circuits'] ?? null);
      const circuit = (name: CircuitName) => {
        const open = circuits.open[name];
        return open
          ? { since: isoTimestamp(open.sinceMs), next_try_at: isoTimestamp(open.untilMs) }
          : { since: null, next_try_at: null };
      };
      const [connection, outage] = [circuit('connection'), circuit('outage')];
      const operations = ENTRY_KINDS.map((operation) => {
        const pause = circuit(`paused.${operation}`);
        return { operation, state: pause.next_try_at === null ? 'open' : 'paused', ...pause } as const;
      });
      const waiting: Partial<Record<BudgetName, number>> = { tow: waitingTows, violations: waitingViolations };
      return {
        mode: modeViewOf({ sinceMs: stoppedSinceMs(circuits), isSwitchedOff: isStoppedBySwitch(circuits) }),
        connection: {
          state: connection.next_try_at === null ? 'working' : 'broken',
          refuses_credentials: refusesCredentials(circuits.open.connection?.cause),
          ...connection,
        },
        service: {
          state: outage.next_try_at === null ? 'working' : 'down',
          ...outage,
          failures: recentFailures(circuits, nowMs),
        },
        operations,
        token: tokenState(token, nowMs),
        held: heldNow,
        budgets: used.map((budget) => ({ ...budget, waiting: waiting[budget.name] ?? 0 })),
      };
    },
  };
}

type BudgetUse = Omit<SendingView['budgets'][number], 'waiting'>;

/** The limits of each budget, and the permits that it granted in its current window. */
async function usedPermits(
  redis: Redis,
  budgets: BudgetSettings,
  { nowMs, stateOf }: { readonly nowMs: number; readonly stateOf: (name: BudgetName) => StoredBudgetState },
): Promise<BudgetUse[]> {
  const usedOf = async (name: BudgetName): Promise<BudgetUse> => {
    const { limit, windowMs } = slidingWindow(budgets[name]);
    const state = stateOf(name);
    const followed = followedLimit(state, nowMs) ?? limit;
    const counting = limit === 0 ? followed : Math.min(limit, followed);
    const permits = counting === 0 ? [] : await redis.lrange(budgetKey(name), 0, counting - 1);
    const sinceMs = nowMs - windowMs;
    const closedUntilMs = state.closed_until ?? 0;
    return {
      name,
      per_minute: limit,
      announced_per_minute: state.limit ?? null,
      announced_at: state.limit_at === undefined ? null : isoTimestamp(state.limit_at),
      limit: counting,
      used: permits.filter((at) => Number(at) > sinceMs).length,
      closed_until: closedUntilMs > nowMs ? isoTimestamp(closedUntilMs) : null,
    };
  };
  return Promise.all(BUDGET_NAMES.map(usedOf));
}

function tokenState(token: Pick<StoredToken, 'expiresAtMs'> | null, nowMs: number): SendingView['token'] {
  if (token === null) return { state: 'none', expires_at: null };
  const { expiresAtMs } = token;
  if (expiresAtMs === null) return { state: 'valid', expires_at: null };
  return { state: expiresAtMs > nowMs ? 'valid' : 'expired', expires_at: isoTimestamp(expiresAtMs) };
}
