import dns from 'node:dns';
import { CALLS, runOutbox } from '../../jobs/run-outbox';
import type { ServiceClient } from '../../src/service';
import { createBudgets, LEAVES_WITHIN_MS, slidingWindow, type BudgetSettings } from '../../src/store/service/budgets';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { createTokenCache } from '../../src/store/service/tokens';
import { movableClock, REQUESTS, type MovableClock, clientFor } from '../service/client-under-test';
import { enveloped, json } from '../service/fake-service';
import { NO_LIMITS } from '../support/outboxes';
import { useRedis } from '../support/redis';
import { GRACE_MS, START, FAST_RETRIES } from '../support/stores';
import { startWorkerFor, type ViolationWorker } from './violation-world';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';

/** A connection that takes this much longer to open than a permit of a rate limit lasts. */
const CONNECTING_MS = LEAVES_WITHIN_MS + 1500;
const DEFAULTS = { auth: 20, site: 30, violations: 20, tickets: 40, tow: 0 };

const redis = useRedis();
const open: { stop(): unknown }[] = [];
let clock: MovableClock;
beforeEach(() => {
  clock = movableClock();
  const real = dns.lookup;
  jest.spyOn(dns, 'lookup').mockImplementation((...asked: unknown[]) => {
    clock.forwardMs(CONNECTING_MS);
    Reflect.apply(real, dns, asked);
  });
});
afterEach(async () => {
  jest.restoreAllMocks();
  for (const one of open.splice(0).toReversed()) await one.stop();
});

async function startWorker(limits: BudgetSettings): Promise<{ worker: ViolationWorker; service: ServiceClient }> {
  const worker = await startWorkerFor(redis.url, { rateLimit: slidingWindow(limits.violations) });
  const service = clientFor(worker.fake.url.replace('127.0.0.1', 'localhost'), {
    tokens: createTokenCache(worker.stores.redis, 'access'),
    budgets: createBudgets(worker.stores.redis, limits),
    clock,
  });
  open.push(worker, { stop: () => service.close() });
  return { worker, service };
}
const permits = ({ stores }: ViolationWorker, name: string) => stores.redis.llen(`{towhook-main}:budget:${name}`);

test.each([DEFAULTS, { ...DEFAULTS, violations: 1 }])(
  'sends a violation whose connection opens slower than a permit lasts, under the rate limits %j',
  async (limits) => {
    const { worker, service } = await startWorker(limits);
    await worker.reportWithImage();

    expect(await worker.wake('U1', { service, clock, claimMaxAgeMs: 9500 })).toBe('accepted');

    expect(worker.fake.calls).toHaveLength(1);
    expect(await permits(worker, 'violations')).toBe(1);
  },
);

test('sends a report whose connection opens slower than a permit of the tow rate limit lasts', async () => {
  const { worker, service } = await startWorker({ ...DEFAULTS, tow: 1 });
  const { stores, fake } = worker;
  fake.onCall(() => enveloped({ towing_reference_id: 'A' }));
  await stores.request('A');
  await stores.say('A', START);
  await createTokenCache(stores.redis, 'access').write({ token: 'known', expiresAtMs: null });
  const limits = { ...NO_LIMITS, rateLimit: slidingWindow(1) };
  const outbox = createTowOutbox(stores.redis, clock, { leaseMs: 20_000, graceMs: GRACE_MS, ...limits });
  const tools = {
    outbox,
    records: stores.records,
    service,
    settings: FAST_RETRIES,
    claimMaxAgeMs: 9500,
    ...unobserved(clock),
  };

  const outcome = await runOutbox(CALLS.tow, 'A', tools, unstopped);

  expect([outcome.what, fake.calls.length, await permits(worker, 'tow')]).toEqual(['accepted', 1, 1]);
});

test('makes site, ticket and token calls whose connections open slower than a permit lasts, with one permit each', async () => {
  const { worker, service } = await startWorker(DEFAULTS);
  worker.fake.onCall(({ url }) =>
    json(url.includes('site-capacity') ? { zoneId: 'z', availableSlots: 4 } : { hasActiveTicket: false }),
  );

  expect((await service.call('capacity', REQUESTS.capacity)).exchange.kind).toBe('accepted');
  expect((await service.call('ticket', REQUESTS.ticket)).exchange.kind).toBe('accepted');

  expect([worker.fake.tokenCalls.length, worker.fake.calls.length]).toEqual([1, 2]);
  expect(await Promise.all(['auth', 'site', 'tickets'].map((name) => permits(worker, name)))).toEqual([1, 1, 1]);
});
