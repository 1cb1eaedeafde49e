import { createMemoryTokenCache } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { BudgetName } from '../../src/contracts/service/operations';
import type { Budgets, Reservation, TokenCache } from '../../src/workflow/service/service-port';
import { budgetsOf } from '../support/outboxes';
import { clientFor, closeClients, FRESH_PERMIT, movableClock, REQUESTS, type MovableClock } from './client-under-test';
import { json, startFakeService, TOW_ANSWER, type FakeService } from './fake-service';

const LASTS_MS = 1000;

let fake: FakeService;
let tokens: TokenCache;
let clock: MovableClock;
beforeEach(async () => {
  fake = await startFakeService();
  tokens = createMemoryTokenCache(systemClock);
  clock = movableClock();
  await tokens.write({ token: 'known', expiresAtMs: null });
});
afterEach(async () => {
  closeClients();
  await fake.stop();
});

const client = (budgets: Budgets) => clientFor(fake.url, { tokens, clock, budgets });

/** Budgets that answer the nth request, counted from 1, by a function and record every request. */
function budgetsThat(answer: (nth: number) => Reservation | Promise<Reservation>) {
  const asked: { readonly name: BudgetName; readonly aheadMaxMs: number }[] = [];
  const reserve: Budgets['reserve'] = async (name, aheadMaxMs) => answer(asked.push({ name, aheadMaxMs }));
  return { asked, ...budgetsOf(reserve) };
}

const granted = (inMs = 0): Reservation => ({ granted: true, inMs, lastsMs: LASTS_MS });

/** A permit that is granted to a process which then freezes before it uses the permit. */
function grantedThenFrozen(ms: number, inMs = 0): Reservation {
  queueMicrotask(() => clock.forwardMs(ms));
  return granted(inMs);
}

describe('a process that freezes between permit and send', () => {
  it('a call that freezes after its permit takes another permit and is sent once', async () => {
    const budgets = budgetsThat((nth) => (nth === 1 ? grantedThenFrozen(LASTS_MS) : granted()));
    const { exchange } = await client(budgets).call('capacity', REQUESTS.capacity, { permitWaitMs: 5000 });
    expect(exchange.kind).not.toBe('dropped');
    expect(budgets.asked.map(({ name }) => name)).toEqual(['site', 'site']);
    expect(fake.calls).toHaveLength(1);
  });

  it('a call whose machine sleeps after its permit takes another permit and is sent once', async () => {
    const budgets = budgetsThat((nth) => {
      if (nth === 1) queueMicrotask(() => clock.sleepMs(LASTS_MS));
      return granted();
    });
    await client(budgets).call('capacity', REQUESTS.capacity, { permitWaitMs: 5000 });
    expect([budgets.asked.length, fake.calls.length]).toEqual([2, 1]);
  });

  it('a call keeps its permit when it freezes for less than a permit lasts', async () => {
    const budgets = budgetsThat(() => grantedThenFrozen(LASTS_MS / 2));
    await client(budgets).call('capacity', REQUESTS.capacity);
    expect(budgets.asked).toHaveLength(1);
    expect(fake.calls).toHaveLength(1);
  });

  it('the lifetime of a permit starts with the request for it, so that a late answer leaves less time', async () => {
    const late = async () => {
      clock.forwardMs(LASTS_MS);
      return granted();
    };
    const budgets = budgetsThat((nth) => (nth === 1 ? late() : granted()));
    await client(budgets).call('capacity', REQUESTS.capacity, { permitWaitMs: 5000 });
    expect(budgets.asked).toHaveLength(2);
    expect(fake.calls).toHaveLength(1);
  });

  it('the lifetime of a permit for a later time starts at that time', async () => {
    const budgets = budgetsThat(() => grantedThenFrozen(LASTS_MS, LASTS_MS / 4));
    await client(budgets).call('capacity', REQUESTS.capacity);
    expect([budgets.asked.length, fake.calls.length]).toEqual([1, 1]);
  });

  it('a call gives up after a few expired permits and sends nothing', async () => {
    const budgets = budgetsThat(() => grantedThenFrozen(LASTS_MS));
    const { exchange } = await client(budgets).call('violation', REQUESTS.violation, { permitWaitMs: 60_000 });
    expect(exchange).toEqual({ kind: 'dropped', cause: 'permission_expired', notBeforeMs: null });
    expect(budgets.asked).toHaveLength(3);
    expect(fake.calls).toHaveLength(0);
  });

  it('a call waits for another permit only for the rest of its wait time', async () => {
    const nowMs = 1_000_000;
    const budgets = budgetsThat((nth) => (nth === 1 ? grantedThenFrozen(1800) : { granted: false, inMs: 700 }));
    const { exchange } = await clientFor(fake.url, { tokens, clock: { ...clock, nowMs: () => nowMs }, budgets }).call(
      'ticket',
      REQUESTS.ticket,
      { permitWaitMs: 2000 },
    );
    expect(exchange).toEqual({ kind: 'dropped', cause: 'no_permit', notBeforeMs: nowMs + 700 });
    expect(budgets.asked[1]?.aheadMaxMs).toBeLessThanOrEqual(200);
    expect(fake.calls).toHaveLength(0);
  });

  it('the second send after a 401 and the token call also replace an expired permit', async () => {
    fake.onCall((_, nth) => (nth === 1 ? json({ message: 'Unauthorized' }, 401) : TOW_ANSWER));
    const budgets = budgetsThat((nth) => (nth % 2 === 1 ? grantedThenFrozen(LASTS_MS) : granted()));
    const { exchange } = await client(budgets).call('detained', REQUESTS.detained, {
      permit: FRESH_PERMIT,
      permitWaitMs: 60_000,
    });
    expect(exchange.kind).toBe('accepted');
    expect(budgets.asked.map(({ name }) => name)).toEqual(['auth', 'auth', 'tow', 'tow']);
    expect([fake.calls.length, fake.tokenCalls.length]).toEqual([2, 1]);
  });
});

it('a call with a fresh permit still needs the permission to send', async () => {
  const budgets = budgetsThat(() => granted());
  const { exchange } = await client(budgets).call('ticket', REQUESTS.ticket, { maySend: () => false });
  expect(exchange).toEqual({ kind: 'dropped', cause: 'permission_expired', notBeforeMs: null });
  expect([budgets.asked.length, fake.calls.length]).toEqual([1, 0]);
});

it('a call whose permit was taken with its claim is limited by the claim alone', async () => {
  const budgets = budgetsThat(() => granted());
  const maySend = () => {
    clock.forwardMs(60_000);
    return true;
  };
  const { exchange } = await client(budgets).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT, maySend });
  expect(exchange.kind).toBe('accepted');
  expect(budgets.asked).toEqual([]);
});

describe('permits that were taken with the claim', () => {
  const old = { atMs: 1_700_000_000_123, isFresh: () => false };

  it('a permit taken with the claim is exchanged on the open connection when it is too old', async () => {
    const reserve = jest.fn<Promise<Reservation>, Parameters<Budgets['reserve']>>(async () => granted());
    const result = await client(budgetsOf(reserve)).call('detained', REQUESTS.detained, { permit: old });
    expect(result).toMatchObject({ exchange: { kind: 'accepted' }, isPermitSpent: true });
    expect(reserve.mock.calls).toEqual([['tow', expect.any(Number), old.atMs]]);
    expect(fake.calls).toHaveLength(1);
  });

  it('a call whose claim ends during the exchange of its permit sends nothing and cannot return the permit', async () => {
    const result = await client(budgetsThat(() => granted())).call('violation', REQUESTS.violation, {
      permit: old,
      maySend: () => false,
    });
    const exchange = { kind: 'dropped', cause: 'permission_expired', notBeforeMs: null };
    expect(result).toMatchObject({ exchange, wasSent: false, isPermitSpent: true });
    expect(fake.calls).toHaveLength(0);
  });

  it('a permit taken with the claim can be returned when its exchange is denied', async () => {
    const result = await client(budgetsThat(() => ({ granted: false, inMs: 40_000 }))).call(
      'violation',
      REQUESTS.violation,
      { permit: old },
    );
    expect(result).toMatchObject({ exchange: { kind: 'dropped' }, wasSent: false, isPermitSpent: false });
  });

  it('a permit taken with the claim cannot be returned when its exchange has no answer', async () => {
    const result = await client(budgetsThat(() => Promise.reject(new Error('Command timed out')))).call(
      'violation',
      REQUESTS.violation,
      { permit: old },
    );
    expect(result).toMatchObject({ exchange: { kind: 'dropped' }, wasSent: false, isPermitSpent: true });
  });

  it('a permit taken with the claim can be returned when the service cannot be reached', async () => {
    await fake.stop();
    const result = await client(budgetsThat(() => granted())).call('violation', REQUESTS.violation, { permit: old });
    expect(result).toMatchObject({ exchange: { kind: 'surely_not_sent' }, isPermitSpent: false });
  });
});

it('a spent rate limit costs no connection until its next permit is within reach', async () => {
  const answer: { current: Reservation } = { current: { granted: false, inMs: 40_000 } };
  const budgets = budgetsThat(() => answer.current);
  const one = client(budgets);
  for (let nth = 0; nth < 3; nth += 1) {
    expect((await one.call('ticket', REQUESTS.ticket)).exchange).toMatchObject({ kind: 'dropped' });
  }
  expect([budgets.asked.length, fake.opened()]).toEqual([1, 1]);

  answer.current = granted();
  clock.forwardMs(39_000);
  expect((await one.call('ticket', REQUESTS.ticket)).wasSent).toBe(true);
  expect(fake.opened()).toBe(2);
});

it('a call waits for a permit for at most half of the time that its attempt has left', async () => {
  const budgets = budgetsThat(() => ({ granted: false, inMs: 40_000 }));
  const one = clientFor(fake.url, { tokens, clock, budgets, timeoutMs: 20_000 });
  const { exchange } = await one.call('ticket', REQUESTS.ticket, { permitWaitMs: 60_000 });
  expect(exchange.kind).toBe('dropped');
  expect(budgets.asked[0]?.aheadMaxMs).toBeLessThanOrEqual(10_000);
});

it('the wait for a token reduces the wait for a permit', async () => {
  await tokens.write({ token: 'over', expiresAtMs: 1 });
  fake.onTokenCall(() => {
    clock.forwardMs(3000);
    return json({ code: 200, message: 'Success', data: { token: 'fresh' } });
  });
  const budgets = budgetsThat(() => granted());
  await client(budgets).call('capacity', REQUESTS.capacity, { permitWaitMs: 5000 });
  const [auth, site] = budgets.asked;
  expect([auth?.name, site?.name]).toEqual(['auth', 'site']);
  expect(site?.aheadMaxMs).toBeGreaterThan(0);
  expect(site?.aheadMaxMs).toBeLessThanOrEqual(2000);
});

it('a permit that is free at once is taken however long the token took', async () => {
  await tokens.write({ token: 'over', expiresAtMs: 1 });
  fake.onTokenCall(() => {
    clock.forwardMs(30_000);
    return json({ code: 200, message: 'Success', data: { token: 'fresh' } });
  });
  const budgets = budgetsThat(() => granted());
  await client(budgets).call('capacity', REQUESTS.capacity, { permitWaitMs: 5000 });
  expect(budgets.asked.at(-1)).toEqual({ name: 'site', aheadMaxMs: 0 });
  expect(fake.calls).toHaveLength(1);
});
