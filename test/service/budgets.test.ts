import type { BudgetName } from '../../src/contracts/service/operations';
import type { ServiceClientOptions } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { Budgets, TokenCache } from '../../src/workflow/service/service-port';
import { budgetsOf } from '../support/outboxes';
import { clientFor, FRESH_PERMIT, movableClock, REQUESTS, useFakeService } from './client-under-test';
import { json, TOW_ANSWER, type FakeService } from './fake-service';

let fake: FakeService;
let tokens: TokenCache;
useFakeService((opened) => {
  ({ fake, tokens } = opened);
});

const NOW_MS = 1_000_000;
const clock = { ...movableClock(), nowMs: () => NOW_MS };

/** Budgets that record every request. The named ones have no permit for `inMs`. */
function budgetsWithout(spent: readonly BudgetName[], inMs = 40_000): Budgets & { readonly asked: BudgetName[] } {
  const asked: BudgetName[] = [];
  const budgets = budgetsOf((name) => {
    asked.push(name);
    return Promise.resolve(spent.includes(name) ? { granted: false, inMs } : { granted: true, inMs: 0, lastsMs: 1000 });
  });
  return { asked, ...budgets };
}

const client = (options: Partial<ServiceClientOptions>) => clientFor(fake.url, { tokens, clock, ...options });
const haveToken = () => tokens.write({ token: 'known', expiresAtMs: null });

it('every call takes a permit of its own rate limit, and the token call one of its own', async () => {
  const budgets = budgetsWithout([]);
  const one = client({ budgets });
  await one.call('detained', REQUESTS.detained);
  await one.call('capacity', REQUESTS.capacity);
  await one.call('ticket', REQUESTS.ticket);
  await one.call('violation', REQUESTS.violation);
  expect(budgets.asked).toEqual(['auth', 'tow', 'site', 'tickets', 'violations']);
});

it('a report whose permit was taken with its claim takes no other permit', async () => {
  await haveToken();
  const budgets = budgetsWithout([]);
  await client({ budgets }).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT });
  expect(budgets.asked).toEqual([]);
});

it('the second send after a 401 takes a permit of its own, as it is a second call', async () => {
  await haveToken();
  const budgets = budgetsWithout([]);
  fake.onCall((_, nth) => (nth === 1 ? json({ message: 'Unauthorized' }, 401) : TOW_ANSWER));
  const { exchange } = await client({ budgets }).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT });
  expect(exchange.kind).toBe('accepted');
  expect(budgets.asked).toEqual(['auth', 'tow']);
});

it('a call without a permit for its second send sends nothing more and returns the time of the next permit', async () => {
  await haveToken();
  fake.onCall(() => json({ message: 'Unauthorized' }, 401));
  const call = client({ budgets: budgetsWithout(['tow']) }).call('detained', REQUESTS.detained, {
    permit: FRESH_PERMIT,
  });
  expect((await call).exchange).toEqual({ kind: 'dropped', cause: 'no_permit', notBeforeMs: NOW_MS + 40_000 });
  expect(fake.calls).toHaveLength(1);
});

it('a call without a permit for its token call requests no token and is postponed, without a connection failure', async () => {
  const { exchange } = await client({ budgets: budgetsWithout(['auth']) }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', cause: 'no_permit', notBeforeMs: NOW_MS + 40_000 });
  expect([fake.calls.length, fake.tokenCalls.length]).toEqual([0, 0]);
});

it('a call without a permit to renew a refused token is postponed, and the service gets no more requests', async () => {
  await haveToken();
  fake.onCall(() => json({ message: 'Unauthorized' }, 401));
  const { exchange } = await client({ budgets: budgetsWithout(['auth']) }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', cause: 'no_permit', notBeforeMs: NOW_MS + 40_000 });
  expect([fake.calls.length, fake.tokenCalls.length]).toEqual([1, 0]);
});

it('a spent token rate limit is not asked again before its next permit', async () => {
  const budgets = budgetsWithout(['auth']);
  const one = client({ budgets });
  await one.call('detained', REQUESTS.detained);
  await one.call('released', REQUESTS.released);
  expect(budgets.asked).toEqual(['auth']);
});

it('a call waits for a permit that comes soon', async () => {
  await haveToken();
  const startedMs = systemClock.monotonicMs();
  const soon = budgetsOf(() => Promise.resolve({ granted: true, inMs: 60, lastsMs: 1000 }));
  const { exchange } = await client({ budgets: soon }).call('detained', REQUESTS.detained);
  expect(exchange.kind).toBe('accepted');
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(55);
});

it('a call sends nothing while the rate limits cannot be asked', async () => {
  await haveToken();
  const broken = budgetsOf(() => Promise.reject(new Error('Redis is away')));
  const { exchange } = await client({ budgets: broken }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', cause: 'no_permit', notBeforeMs: NOW_MS + 1000 });
  expect(fake.calls).toHaveLength(0);
});
