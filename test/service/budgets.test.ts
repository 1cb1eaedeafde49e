import type { BudgetName } from '../../src/contracts/operations';
import { createMemoryTokenCache, type ServiceClientOptions } from '../../src/service';
import { systemClock } from '../../src/platform/clock';
import type { Budgets, TokenCache } from '../../src/workflow/service-port';
import { clientFor, closeClients, FRESH_PERMIT, movableClock, REQUESTS } from './client-under-test';
import { json, startFakeService, TOW_ANSWER, type FakeService } from './fake-service';

let fake: FakeService;
let tokens: TokenCache;
beforeEach(async () => {
  fake = await startFakeService();
  tokens = createMemoryTokenCache(systemClock);
});
afterEach(async () => {
  closeClients();
  await fake.stop();
});

const NOW_MS = 1_000_000;
const clock = { ...movableClock(), nowMs: () => NOW_MS };

/** Budgets that note what is asked of them; those named have no slot for `inMs`. */
function budgetsWithout(spent: readonly BudgetName[], inMs = 40_000): Budgets & { readonly asked: BudgetName[] } {
  const asked: BudgetName[] = [];
  return {
    asked,
    reserve(name) {
      asked.push(name);
      return Promise.resolve(
        spent.includes(name) ? { granted: false, inMs } : { granted: true, inMs: 0, lastsMs: 1000 },
      );
    },
  };
}

const client = (options: Partial<ServiceClientOptions>) => clientFor(fake.url, { tokens, clock, ...options });
const haveToken = () => tokens.write({ token: 'known', expiresAtMs: null });

it('every call takes a slot of its own budget, and the token call one of its own', async () => {
  const budgets = budgetsWithout([]);
  const one = client({ budgets });
  await one.call('detained', REQUESTS.detained);
  await one.call('capacity', REQUESTS.capacity);
  await one.call('ticket', REQUESTS.ticket);
  await one.call('violation', REQUESTS.violation);
  expect(budgets.asked).toEqual(['auth', 'tow', 'site', 'tickets', 'violations']);
});

it('a report whose slot was taken with its claim takes none again', async () => {
  await haveToken();
  const budgets = budgetsWithout([]);
  await client({ budgets }).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT });
  expect(budgets.asked).toEqual([]);
});

it('the second send after a 401 takes a slot of its own: two calls are two calls', async () => {
  await haveToken();
  const budgets = budgetsWithout([]);
  fake.onCall((_, nth) => (nth === 1 ? json({ message: 'Unauthorized' }, 401) : TOW_ANSWER));
  const { exchange } = await client({ budgets }).call('detained', REQUESTS.detained, { permit: FRESH_PERMIT });
  expect(exchange.kind).toBe('accepted');
  expect(budgets.asked).toEqual(['auth', 'tow']);
});

it('without a slot for the second send nothing more is sent, and the answer says when there will be one', async () => {
  await haveToken();
  fake.onCall(() => json({ message: 'Unauthorized' }, 401));
  const call = client({ budgets: budgetsWithout(['tow']) }).call('detained', REQUESTS.detained, {
    permit: FRESH_PERMIT,
  });
  expect((await call).exchange).toEqual({ kind: 'dropped', notBeforeMs: NOW_MS + 40_000 });
  expect(fake.calls).toHaveLength(1);
});

it('without a slot for the token call no token is asked for, and the call waits for one: no connection is lost', async () => {
  const { exchange } = await client({ budgets: budgetsWithout(['auth']) }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: NOW_MS + 40_000 });
  expect([fake.calls.length, fake.tokenCalls.length]).toEqual([0, 0]);
});

it('without a slot to renew a refused token the call waits for one, and the service is asked nothing more', async () => {
  await haveToken();
  fake.onCall(() => json({ message: 'Unauthorized' }, 401));
  const { exchange } = await client({ budgets: budgetsWithout(['auth']) }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: NOW_MS + 40_000 });
  expect([fake.calls.length, fake.tokenCalls.length]).toEqual([1, 0]);
});

it('a spent budget of token calls is not asked again before it has a slot', async () => {
  const budgets = budgetsWithout(['auth']);
  const one = client({ budgets });
  await one.call('detained', REQUESTS.detained);
  await one.call('released', REQUESTS.released);
  expect(budgets.asked).toEqual(['auth']);
});

it('a slot that comes soon is waited for', async () => {
  await haveToken();
  const startedMs = systemClock.monotonicMs();
  const soon: Budgets = { reserve: () => Promise.resolve({ granted: true, inMs: 60, lastsMs: 1000 }) };
  const { exchange } = await client({ budgets: soon }).call('detained', REQUESTS.detained);
  expect(exchange.kind).toBe('accepted');
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(55);
});

it('while the budgets cannot be asked, nothing is sent', async () => {
  await haveToken();
  const broken: Budgets = { reserve: () => Promise.reject(new Error('Redis is away')) };
  const { exchange } = await client({ budgets: broken }).call('detained', REQUESTS.detained);
  expect(exchange).toEqual({ kind: 'dropped', notBeforeMs: NOW_MS + 1000 });
  expect(fake.calls).toHaveLength(0);
});
