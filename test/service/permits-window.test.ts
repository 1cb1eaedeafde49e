import { createBudgets } from '../../src/store/service/budgets';
import { systemClock } from '../../src/platform/clock';
import type { Budgets } from '../../src/workflow/service/service-port';
import { useStores } from '../support/stores';
import { clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { json, startFakeService, type FakeService } from './fake-service';

const stores = useStores();
let fake: FakeService;
beforeEach(async () => {
  fake = await startFakeService();
  fake.onCall(() => json({ hasActiveTicket: false }));
});
afterEach(async () => {
  closeClients();
  await fake.stop();
});

/** The length of a minute for these rate limits. A permit lasts a sixtieth of it. */
const MINUTE_MS = 900;
const LIMIT = 12;
const CALLS = 28;
/** The permits after which the process freezes: in the first window, in the second and in later ones. */
const FREEZES_AFTER = [4, 9, 16, 22, 29];

/** Blocks the event loop, as in a process that is starved or stopped. */
function freeze(ms: number): void {
  const untilMs = systemClock.monotonicMs() + ms;
  while (systemClock.monotonicMs() < untilMs);
}

/** Rate limits of a process that freezes right after some permits, for longer than a permit lasts. */
function freezing(budgets: Budgets): Budgets & { readonly frozen: () => number } {
  let frozen = 0;
  let permits = 0;
  return {
    frozen: () => frozen,
    observe: (name, seen) => budgets.observe(name, seen),
    async reserve(name, aheadMaxMs) {
      const reserved = await budgets.reserve(name, aheadMaxMs);
      if (!reserved.granted) return reserved;
      permits += 1;
      if (FREEZES_AFTER.includes(permits)) {
        frozen += 1;
        freeze(60 + 40 * (permits % 3));
      }
      return reserved;
    },
  };
}

test('a process that freezes between a rate limit permit and its call never exceeds the rate limit in any window', async () => {
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
      const { exchange } = await client.call('ticket', REQUESTS.ticket, { maySend, permitWaitMs: 2 * MINUTE_MS });
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
