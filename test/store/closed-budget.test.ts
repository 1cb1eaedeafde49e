import { z } from 'zod';
import type { BudgetName } from '../../src/contracts/operations';
import { createBudgets, type BudgetSettings } from '../../src/store/budgets';
import { budgetStateField, KEYS } from '../../src/store/keys';
import { redisTimeMs } from '../../src/store/redis-time';
import type { Reservation } from '../../src/workflow/service-port';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

/** What a 429 closes opens for one call, the trial, and for the others when no 429 has answered it. */

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const BUDGET: BudgetName = 'tickets';
const NO_LIMITS: BudgetSettings = { auth: 0, tow: 0, violations: 0, tickets: 0, site: 0 };
/** A long minute: the others wait for a thirtieth of it after the trial, longer than any test takes. */
const MINUTE_MS = 3_600_000;
const budgets = () => createBudgets(stores.redis, NO_LIMITS, MINUTE_MS);

const close = (askedMs: number) =>
  budgets().observe(BUDGET, { isRefusal: true, askedMs, perMinute: null, remaining: null, resetInMs: null });

/** Lets the time of the closure be over; the trial is still needed. */
async function endClosure(): Promise<void> {
  const state: unknown = JSON.parse((await stores.redis.hget(KEYS.circuits, budgetStateField(BUDGET))) ?? '{}');
  const ended = { ...z.looseObject({}).parse(state), closed_until: 0 };
  await stores.redis.hset(KEYS.circuits, budgetStateField(BUDGET), JSON.stringify(ended));
}

/** How long a call has to wait that takes its permit however far ahead it is, ms. */
async function waitOfNextMs(): Promise<number> {
  const reservation: Reservation = await budgets().reserve(BUDGET, 2 * MINUTE_MS);
  return reservation.inMs;
}

test('calls that reserve their permits before a closed budget opens all wait until then', async () => {
  await close(100_000);
  const waits = [await waitOfNextMs(), await waitOfNextMs(), await waitOfNextMs(), await waitOfNextMs()];
  for (const waitMs of waits) expect(waitMs).toBeGreaterThan(60_000);
});

test('a service that asks for a few milliseconds again and again is asked less and less often', async () => {
  const waits = [];
  for (let refusal = 0; refusal < 4; refusal += 1) {
    waits.push((await close(1)).closedForMs);
    await endClosure();
  }
  expect(waits.map((waitMs) => Math.round(waitMs / (MINUTE_MS / 60)))).toEqual([1, 2, 4, 8]);
});

test('a trial without a 429 in its time ends the closure, although every permit is for later', async () => {
  // The trial has a thirtieth of this minute.
  const limited = createBudgets(stores.redis, { ...NO_LIMITS, [BUDGET]: 1 }, 30_000);
  const stateNow = async (): Promise<unknown> =>
    JSON.parse((await stores.redis.hget(KEYS.circuits, budgetStateField(BUDGET))) ?? '');
  await close(1);
  await endClosure();
  const triedByMs = await eventually(async () => {
    const reservation = await limited.reserve(BUDGET, 0);
    expect(reservation).toMatchObject({ granted: true });
    return redisTimeMs(stores.redis);
  });
  await eventually(async () => expect(await redisTimeMs(stores.redis)).toBeGreaterThan(triedByMs + 1100));

  expect((await limited.reserve(BUDGET, MINUTE_MS)).inMs).toBeGreaterThan(0);
  expect(await stateNow()).not.toHaveProperty('needs_trial');
});

test('while the trial of a closed budget has no answer, calls that reserve permits wait for it', async () => {
  await close(1);
  await endClosure();
  await eventually(async () => expect(await budgets().reserve(BUDGET, 0)).toMatchObject({ granted: true }));
  const waits = [await waitOfNextMs(), await waitOfNextMs(), await waitOfNextMs()];
  for (const waitMs of waits) expect(waitMs).toBeGreaterThan(60_000);
});
