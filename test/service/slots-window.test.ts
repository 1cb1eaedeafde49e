import { createBudgets } from '../../src/store/budgets';
import { systemClock } from '../../src/platform/clock';
import type { Budgets } from '../../src/workflow/service-port';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { json, startFakeService, type FakeService } from './fake-service';

const redis = useRedis();
let stores: Stores;
let fake: FakeService;
beforeEach(async () => {
  stores = await openStores(redis.url);
  fake = await startFakeService();
  fake.onCall(() => json({ hasActiveTicket: false }));
});
afterEach(async () => {
  closeClients();
  await fake.stop();
  stores.close();
});

/** The minute of this world: a slot lasts a sixtieth of it. */
const MINUTE_MS = 900;
const LIMIT = 8;
const CALLS = 20;

/** Stands still as a process does that is starved or stopped: nothing in it runs. */
function freeze(ms: number): void {
  const untilMs = systemClock.monotonicMs() + ms;
  while (systemClock.monotonicMs() < untilMs);
}

/** Budgets of a process that freezes now and then right after a slot was granted, for longer than a slot lasts. */
function freezing(budgets: Budgets): Budgets & { readonly frozen: () => number } {
  let frozen = 0;
  let nth = 0;
  return {
    frozen: () => frozen,
    async reserve(name, aheadMaxMs) {
      const reserved = await budgets.reserve(name, aheadMaxMs);
      nth += 1;
      if (reserved.granted && nth % 4 === 0) {
        frozen += 1;
        freeze(60 + 40 * (nth % 3));
      }
      return reserved;
    },
  };
}

test('a process that freezes between slot and send never makes more calls than the budget in any window', async () => {
  const settings = { auth: 0, site: 0, violations: 0, tickets: LIMIT, tow: 0 };
  const budgets = freezing(createBudgets(stores.redis, settings, MINUTE_MS));
  const client = await clientWithToken(fake.url, { budgets });
  const leftAtMs: number[] = [];
  const maySend = () => {
    leftAtMs.push(systemClock.monotonicMs());
    return true;
  };
  let accepted = 0;
  const work = async () => {
    while (accepted < CALLS) {
      const { exchange } = await client.call('ticket', REQUESTS.ticket, { maySend, slotWaitMs: 2 * MINUTE_MS });
      if (exchange.kind === 'accepted') accepted += 1;
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));

  const left = leftAtMs.toSorted((a, b) => a - b);
  const spans = left.slice(LIMIT).map((atMs, n) => atMs - (left[n] ?? 0));
  expect(spans.filter((span) => span <= MINUTE_MS)).toEqual([]);
  expect(left).toHaveLength(fake.calls.length);
  expect(budgets.frozen()).toBeGreaterThan(3);
});
