import { z } from 'zod';
import type { BudgetName } from '../../src/contracts/service/operations';
import { followedLimit } from '../../src/contracts/service/stored-budgets';
import { createBudgets, type BudgetSettings } from '../../src/store/service/budgets';
import { budgetKey, budgetStateField, KEYS } from '../../src/store/keys';
import { redisTimeMs } from '../../src/store/redis/redis-time';
import type { ObservedLimit, Reservation } from '../../src/workflow/service/service-port';
import { eventually } from '../support/eventually';
import { useStores } from '../support/stores';

/** What a 429 closes opens for one call, the trial, and for the others when no 429 has answered it. */

const stores = useStores();

const BUDGET: BudgetName = 'tickets';
const NO_LIMITS: BudgetSettings = { auth: 0, tow: 0, violations: 0, tickets: 0, site: 0 };
/** A long minute: the others wait for a thirtieth of it after the trial, longer than any test takes. */
const MINUTE_MS = 3_600_000;
const budgets = () => createBudgets(stores.redis, NO_LIMITS, MINUTE_MS);

const NOTHING_SEEN: ObservedLimit = {
  isRefusal: false,
  askedMs: null,
  perMinute: null,
  remaining: null,
  resetInMs: null,
};
const observe = async (seen: Partial<ObservedLimit>) => budgets().observe(BUDGET, { ...NOTHING_SEEN, ...seen });
const close = (askedMs: number | null) => observe({ isRefusal: true, askedMs });

/** Lets the time of the closure be over; the trial is still needed. */
async function endClosure(): Promise<void> {
  const ended = { ...z.looseObject({}).parse(await storedState()), closed_until: 0 };
  await stores.redis.hset(KEYS.circuits, budgetStateField(BUDGET), JSON.stringify(ended));
}

/** How long a call has to wait that takes its permit however far ahead it is, ms. */
async function waitOfNextMs(): Promise<number> {
  const reservation: Reservation = await budgets().reserve(BUDGET, 2 * MINUTE_MS);
  return reservation.inMs;
}

async function storedState(): Promise<unknown> {
  return JSON.parse((await stores.redis.hget(KEYS.circuits, budgetStateField(BUDGET))) ?? '{}');
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
  await close(1);
  await endClosure();
  const triedByMs = await eventually(async () => {
    const reservation = await limited.reserve(BUDGET, 0);
    expect(reservation).toMatchObject({ granted: true });
    return redisTimeMs(stores.redis);
  });
  await eventually(async () => expect(await redisTimeMs(stores.redis)).toBeGreaterThan(triedByMs + 1100));

  expect((await limited.reserve(BUDGET, MINUTE_MS)).inMs).toBeGreaterThan(0);
  expect(await storedState()).not.toHaveProperty('needs_trial');
});

test('while the trial of a closed budget has no answer, calls that reserve permits wait for it', async () => {
  await close(1);
  await endClosure();
  await eventually(async () => expect(await budgets().reserve(BUDGET, 0)).toMatchObject({ granted: true }));
  const waits = [await waitOfNextMs(), await waitOfNextMs(), await waitOfNextMs()];
  for (const waitMs of waits) expect(waitMs).toBeGreaterThan(60_000);
});

test('a permit that is exchanged although it was the trial makes its successor the trial', async () => {
  await close(1);
  await endClosure();
  await eventually(async () => expect(await budgets().reserve(BUDGET, 0)).toMatchObject({ granted: true }));
  const { tried_at: triedAtMs } = z.looseObject({ tried_at: z.number() }).parse(await storedState());

  expect(await budgets().reserve(BUDGET, 0, triedAtMs)).toMatchObject({ granted: true, inMs: 0 });
});

test('a 429 that answers the trial keeps all calls back for the wait that it asks for', async () => {
  await close(1);
  await endClosure();
  await eventually(async () => expect(await budgets().reserve(BUDGET, 0)).toMatchObject({ granted: true }));

  await close(1_000_000);

  expect(await waitOfNextMs()).toBeGreaterThan(900_000);
});

describe('a closed budget', () => {
  test('is never opened earlier by a shorter wait that an answer asks for', async () => {
    await close(1_000_000);

    for (const seen of [
      { isRefusal: true, askedMs: 100_000 },
      { remaining: 0, resetInMs: 1000 },
    ]) {
      expect((await observe(seen)).closedForMs).toBeGreaterThan(900_000);
    }
  });

  test('is closed longer by a call that had left before and is asked to wait longer', async () => {
    await close(100_000);
    expect((await close(1_000_000)).closedForMs).toBeGreaterThan(900_000);
  });

  test('is not closed longer by calls that had left before and got a 429 without a wait', async () => {
    const { closedForMs } = await close(null);
    expect((await close(null)).closedForMs).toBeLessThanOrEqual(closedForMs);
  });

  test.each([
    ['a 429', { isRefusal: true, askedMs: 36_000_000 }],
    ['an answer after the last call', { remaining: 0, resetInMs: 36_000_000 }],
  ])('opens within an hour although %s asks for ten', async (_what, seen) => {
    expect((await observe(seen)).closedForMs).toBeLessThanOrEqual(3_600_000);
  });

  test('is closed for five minutes at most after many 429 that ask for no wait', async () => {
    await stores.redis.hset(KEYS.circuits, budgetStateField(BUDGET), JSON.stringify({ strikes: 30 }));
    const inMinutes = createBudgets(stores.redis, NO_LIMITS);

    expect((await inMinutes.observe(BUDGET, { ...NOTHING_SEEN, isRefusal: true })).closedForMs).toBe(300_000);
  });

  test('is closed although its stored state cannot be read', async () => {
    await stores.redis.hset(KEYS.circuits, budgetStateField(BUDGET), 'text');
    expect((await close(100_000)).closedForMs).toBeGreaterThan(60_000);
  });
});

describe('a limit that the service announced', () => {
  const MINUTE = 60_000;
  const limited = (ours: number) => createBudgets(stores.redis, { ...NO_LIMITS, [BUDGET]: ours });
  const announced = (state: { limit: number; limit_until: number }) =>
    stores.redis.hset(KEYS.circuits, budgetStateField(BUDGET), JSON.stringify(state));
  /** How many of two permits are free at once. */
  const freeOfTwo = async (ours: number) => {
    const replies = [await limited(ours).reserve(BUDGET, 0), await limited(ours).reserve(BUDGET, 0)];
    return replies.filter(({ granted }) => granted).length;
  };
  const LATER = () => Date.now() + 600_000;

  test('counts while it is followed, and no longer', async () => {
    await announced({ limit: 1, limit_until: LATER() });
    expect(await freeOfTwo(0)).toBe(1);
    await announced({ limit: 1, limit_until: Date.now() - 1000 });
    expect(await freeOfTwo(0)).toBe(2);
  });

  test('is not followed for longer than a limit ever is: a clock that jumped has stored its end', async () => {
    const nowMs = await redisTimeMs(stores.redis);
    await announced({ limit: 1, limit_until: nowMs + 3 * 3_600_000 });
    expect(await freeOfTwo(0)).toBe(2);
    expect(followedLimit({ limit: 1, limit_until: nowMs + 600_000 }, nowMs)).toBe(1);
    expect(followedLimit({ limit: 1, limit_until: nowMs + 3 * 3_600_000 }, nowMs)).toBeNull();
  });

  test.each([0, 100])('of %i calls does not lift ours', async (limit) => {
    await announced({ limit, limit_until: LATER() });
    expect(await freeOfTwo(1)).toBe(1);
  });

  test('counts the earlier calls that the service has counted, until its count starts again', async () => {
    const windowMs = 61_200;
    const nowMs = await redisTimeMs(stores.redis);
    // Two of our calls are in the window of the service, and one is over.
    const ours = [nowMs - 1000, nowMs - 2000];
    await stores.redis.rpush(budgetKey(BUDGET), ...ours, nowMs - 2 * windowMs);
    const inMinutes = createBudgets(stores.redis, NO_LIMITS);
    const logged = async () => (await stores.redis.lrange(budgetKey(BUDGET), 0, -1)).map(Number);

    const seen = { ...NOTHING_SEEN, perMinute: 10, remaining: 5, resetInMs: MINUTE / 2 };
    expect(await inMinutes.observe(BUDGET, seen)).toEqual({ closedForMs: 0 });

    const log = await logged();
    expect(log.slice(0, 2)).toEqual(ours);
    const endsInMs = log.slice(2).map((atMs) => atMs + windowMs - nowMs);
    expect(endsInMs).toHaveLength(3);
    for (const inMs of endsInMs) expect(Math.abs(inMs - MINUTE / 2)).toBeLessThan(10_000);
    // The same limit announced again is no reason to count again.
    await inMinutes.observe(BUDGET, { ...seen, remaining: 1 });
    expect(await logged()).toEqual(log);
  });

  test('counts no call of ours that is over', async () => {
    await stores.redis.rpush(budgetKey(BUDGET), Date.now() - 600_000);

    const seen = { ...NOTHING_SEEN, perMinute: 3, remaining: 1, resetInMs: MINUTE };
    await limited(0).observe(BUDGET, seen);

    const log = (await stores.redis.lrange(budgetKey(BUDGET), 0, -1)).map(Number);
    expect(log.map((atMs) => Date.now() - atMs < 300_000)).toEqual([true, true]);
  });
});
