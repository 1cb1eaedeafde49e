import { createMemoryTokenCache } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { BudgetName } from '../../src/contracts/operations';
import type { Budgets, Reserved, TokenCache } from '../../src/workflow/service-port';
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

/** Budgets that answer as told, the nth time counted from 1, and note what they were asked. */
function budgetsThat(answer: (nth: number) => Reserved | Promise<Reserved>) {
  const asked: { readonly name: BudgetName; readonly aheadMaxMs: number }[] = [];
  const reserve: Budgets['reserve'] = async (name, aheadMaxMs) => answer(asked.push({ name, aheadMaxMs }));
  return { asked, reserve };
}

const granted = (inMs = 0): Reserved => ({ granted: true, inMs, lastsMs: LASTS_MS });

/** A slot that is granted to a process which then freezes, before it has done anything with it. */
function grantedThenFrozen(ms: number): Reserved {
  queueMicrotask(() => clock.forwardMs(ms));
  return granted();
}

describe('a call whose process froze between its slot and its send', () => {
  it('takes another slot, and leaves once', async () => {
    const budgets = budgetsThat((nth) => (nth === 1 ? grantedThenFrozen(LASTS_MS) : granted()));
    const { exchange } = await client(budgets).call('capacity', REQUESTS.capacity, { slotWaitMs: 5000 });
    expect(exchange.kind).not.toBe('dropped');
    expect(budgets.asked.map(({ name }) => name)).toEqual(['site', 'site']);
    expect(fake.calls).toHaveLength(1);
  });

  it('keeps its slot when it froze for less than a slot lasts', async () => {
    const budgets = budgetsThat(() => grantedThenFrozen(LASTS_MS / 2));
    await client(budgets).call('capacity', REQUESTS.capacity);
    expect(budgets.asked).toHaveLength(1);
    expect(fake.calls).toHaveLength(1);
  });

  it('counts the slot from the question on: an answer that came late leaves as little time', async () => {
    const late = async () => {
      clock.forwardMs(LASTS_MS);
      return granted();
    };
    const budgets = budgetsThat((nth) => (nth === 1 ? late() : granted()));
    await client(budgets).call('capacity', REQUESTS.capacity, { slotWaitMs: 5000 });
    expect(budgets.asked).toHaveLength(2);
    expect(fake.calls).toHaveLength(1);
  });

  it('counts a slot that lies ahead from the moment it is for', async () => {
    const budgets = budgetsThat(() => granted(LASTS_MS / 4));
    await clientFor(fake.url, { tokens, budgets }).call('capacity', REQUESTS.capacity);
    expect([budgets.asked.length, fake.calls.length]).toEqual([1, 1]);
  });

  it('gives up after a few slots, having sent nothing', async () => {
    const budgets = budgetsThat(() => grantedThenFrozen(LASTS_MS));
    const { exchange } = await client(budgets).call('violation', REQUESTS.violation, { slotWaitMs: 60_000 });
    expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: null });
    expect(budgets.asked).toHaveLength(3);
    expect(fake.calls).toHaveLength(0);
  });

  it('waits for the next slot no longer than is left of its wait', async () => {
    const nowMs = 1_000_000;
    const budgets = budgetsThat((nth) => (nth === 1 ? grantedThenFrozen(1800) : { granted: false, inMs: 700 }));
    const { exchange } = await clientFor(fake.url, { tokens, clock: { ...clock, nowMs: () => nowMs }, budgets }).call(
      'ticket',
      REQUESTS.ticket,
      { slotWaitMs: 2000 },
    );
    expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: nowMs + 700 });
    expect(budgets.asked[1]?.aheadMaxMs).toBeLessThanOrEqual(200);
    expect(fake.calls).toHaveLength(0);
  });

  it('does so for the second send after a 401 and for the token call too', async () => {
    fake.onCall((_, nth) => (nth === 1 ? json({ message: 'Unauthorized' }, 401) : TOW_ANSWER));
    const budgets = budgetsThat((nth) => (nth % 2 === 1 ? grantedThenFrozen(LASTS_MS) : granted()));
    const { exchange } = await client(budgets).call('detained', REQUESTS.detained, {
      permit: FRESH_PERMIT,
      slotWaitMs: 60_000,
    });
    expect(exchange.kind).toBe('accepted');
    expect(budgets.asked.map(({ name }) => name)).toEqual(['auth', 'auth', 'tow', 'tow']);
    expect([fake.calls.length, fake.tokenCalls.length]).toEqual([2, 1]);
  });
});

it('a fresh slot does not outlive the right to send: both are asked', async () => {
  const budgets = budgetsThat(() => granted());
  const { exchange } = await client(budgets).call('ticket', REQUESTS.ticket, { maySend: () => false });
  expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: null });
  expect([budgets.asked.length, fake.calls.length]).toEqual([1, 0]);
});

it('a call whose slot was taken with its claim is held to its claim alone', async () => {
  const budgets = budgetsThat(() => granted());
  const maySend = () => {
    clock.forwardMs(60_000);
    return true;
  };
  const { exchange } = await client(budgets).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT, maySend });
  expect(exchange.kind).toBe('accepted');
  expect(budgets.asked).toEqual([]);
});

describe('a permit that was taken with the claim', () => {
  const old = { atMs: 1_700_000_000_123, isFresh: () => false };

  it('is exchanged for another one of its budget on the open connection when it has grown too old', async () => {
    const reserve = jest.fn<Promise<Reserved>, Parameters<Budgets['reserve']>>(async () => granted());
    const result = await client({ reserve }).call('detained', REQUESTS.detained, { permit: old });
    expect(result).toMatchObject({ exchange: { kind: 'accepted' }, isPermitSpent: true });
    expect(reserve.mock.calls).toEqual([['tow', expect.any(Number), old.atMs]]);
    expect(fake.calls).toHaveLength(1);
  });

  it('that is exchanged does not outlive the claim: nothing is sent, and it cannot be given back', async () => {
    const result = await client(budgetsThat(() => granted())).call('violation', REQUESTS.violation, {
      permit: old,
      maySend: () => false,
    });
    const exchange = { kind: 'dropped', notBeforeMs: null };
    expect(result).toMatchObject({ exchange, wasSent: false, isPermitSpent: true });
    expect(fake.calls).toHaveLength(0);
  });

  it('can be given back when the service cannot be reached', async () => {
    await fake.stop();
    const result = await client(budgetsThat(() => granted())).call('violation', REQUESTS.violation, { permit: old });
    expect(result).toMatchObject({ exchange: { kind: 'surely_not_sent' }, isPermitSpent: false });
  });
});

it('a budget that was found spent costs no connection until its next slot is within reach', async () => {
  const answer: { current: Reserved } = { current: { granted: false, inMs: 40_000 } };
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

it('waits for a slot no longer than half of the time that its attempt has left', async () => {
  const budgets = budgetsThat(() => ({ granted: false, inMs: 40_000 }));
  const one = clientFor(fake.url, { tokens, clock, budgets, timeoutMs: 800 });
  const { exchange } = await one.call('ticket', REQUESTS.ticket, { slotWaitMs: 5000 });
  expect(exchange.kind).toBe('dropped');
  expect(budgets.asked[0]?.aheadMaxMs).toBeLessThanOrEqual(400);
});

it('what a call waited for its token is gone from its wait for a slot', async () => {
  await tokens.write({ token: 'over', expiresAtMs: 1 });
  fake.onTokenCall(() => {
    clock.forwardMs(3000);
    return json({ code: 200, message: 'Success', data: { token: 'fresh' } });
  });
  const budgets = budgetsThat(() => granted());
  await client(budgets).call('capacity', REQUESTS.capacity, { slotWaitMs: 5000 });
  const [auth, site] = budgets.asked;
  expect([auth?.name, site?.name]).toEqual(['auth', 'site']);
  expect(site?.aheadMaxMs).toBeGreaterThan(0);
  expect(site?.aheadMaxMs).toBeLessThanOrEqual(2000);
});

it('what is free at once is taken however long the token took', async () => {
  await tokens.write({ token: 'over', expiresAtMs: 1 });
  fake.onTokenCall(() => {
    clock.forwardMs(30_000);
    return json({ code: 200, message: 'Success', data: { token: 'fresh' } });
  });
  const budgets = budgetsThat(() => granted());
  await client(budgets).call('capacity', REQUESTS.capacity, { slotWaitMs: 5000 });
  expect(budgets.asked.at(-1)).toEqual({ name: 'site', aheadMaxMs: 0 });
  expect(fake.calls).toHaveLength(1);
});
