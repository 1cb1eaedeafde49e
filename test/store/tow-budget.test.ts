import { systemClock } from '../../src/platform/clock';
import { createBudgets, slidingWindow } from '../../src/store/budgets';
import { createOutboxStore } from '../../src/store/outbox';
import type { OutboxStore } from '../../src/workflow/outbox-port';
import { entryOf } from '../support/audit';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { ACCEPTED, GRACE_MS, LEASE_MS, mustClaim, openStores, result, START, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

/** An outbox in a world whose minute is shorter. */
function outboxWith(callsPerMinute: number, minuteMs: number): OutboxStore {
  const towBudget = slidingWindow(callsPerMinute, minuteMs);
  const limits = { giveUpAfterMs: 3_600_000, towBudget };
  return createOutboxStore(stores.redis, systemClock, { leaseMs: LEASE_MS, unknownGraceMs: GRACE_MS, ...limits });
}

async function tows(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** A tow that owes nothing but its detention. */
async function detainedTow(ref: string): Promise<void> {
  await tows(ref);
  await stores.outbox.ack(await mustClaim(stores.outbox, ref), result(ACCEPTED));
  await stores.say(ref, { event: 'detained' });
}

test('over the budget a report waits for its slot, and its due mark says when', async () => {
  await tows('A', 'B', 'C');
  const outbox = outboxWith(2, 60_000);
  for (const ref of ['A', 'B']) expect((await outbox.claim(ref)).kind).toBe('send');

  const wait = await outbox.claim('C');

  const waitedMs = wait.kind === 'wait' ? wait.untilMs - (await stores.read('C')).readAtMs : 0;
  expect(waitedMs).toBeGreaterThan(60_000);
  expect(waitedMs).toBeLessThanOrEqual(61_200);
  expect(await stores.dueAt('C')).toBe(wait.kind === 'wait' ? wait.untilMs : 0);
  expect((await stores.read('C')).reports[0]).toMatchObject({ attempts: 0, waitsFor: 'budget' });
});

test('several workers under backlog never make more calls than the budget in any window', async () => {
  const [limit, minuteMs, calls] = [6, 300, 48];
  const refs = Array.from({ length: calls }, (_, index) => `T${index}`);
  await tows(...refs);
  const outbox = outboxWith(limit, minuteMs);
  const sentAtMs: number[] = [];
  const waiting = new Set(refs);
  const work = async () => {
    while (waiting.size > 0) {
      // A snapshot: the others take out of it meanwhile.
      for (const ref of Array.from(waiting)) {
        const claim = await outbox.claim(ref);
        if (claim.kind !== 'send') continue;
        // A lease begins with the grant.
        sentAtMs.push(Number(await stores.redis.hget(`{p0}:tow:${ref}`, 'lease_until')) - LEASE_MS);
        await outbox.ack(claim, result(ACCEPTED));
        waiting.delete(ref);
      }
    }
  };

  await Promise.all([work(), work(), work()]);

  const sent = sentAtMs.toSorted((a, b) => a - b);
  const { windowMs } = slidingWindow(limit, minuteMs);
  expect(sent).toHaveLength(calls);
  const spans = sent.slice(limit).map((at, index) => at - (sent[index] ?? 0));
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(windowMs);
});

test('tows that say where a vehicle is are served before those that came earlier', async () => {
  await detainedTow('D1');
  await detainedTow('D2');
  await tows('A', 'S');
  const outbox = outboxWith(1, 200);
  expect((await outbox.claim('A')).kind).toBe('send');
  for (const ref of ['D1', 'D2', 'S']) expect((await outbox.claim(ref)).kind).toBe('wait');

  const order: string[] = [];
  await eventually(async () => {
    for (const ref of ['D2', 'D1', 'S']) {
      if (!order.includes(ref) && (await outbox.claim(ref)).kind === 'send') order.push(ref);
    }
    expect(order).toHaveLength(3);
  });

  expect(order).toEqual(['S', 'D1', 'D2']);
});

test('a tow that needs its slot no longer leaves the line', async () => {
  await tows('A', 'B', 'C');
  const outbox = outboxWith(1, 200);
  for (const ref of ['A', 'B', 'C']) await outbox.claim(ref);
  const before = await stores.read('B');
  const audit = entryOf('report.waived');
  const waive = { reportId: 'started-1', audit, action: 'waive', reason: 'seen', alsoWaive: [] } as const;
  await stores.tows.decide(before, waive);

  expect(await stores.redis.zrangebyscore('{p0}:budget-waiting', '-inf', '+inf')).toEqual(['C']);
  await eventually(async () => expect((await outbox.claim('C')).kind).toBe('send'));
});

test('a claim whose reply was lost and is given again takes no second slot', async () => {
  await tows('A', 'B');
  const fixed = { ...systemClock, id: () => 'the-same-id' };
  const towBudget = slidingWindow(2);
  const limits = { leaseMs: 5000, unknownGraceMs: GRACE_MS, giveUpAfterMs: 3_600_000, towBudget };
  const repeating = createOutboxStore(stores.redis, fixed, limits);
  expect((await repeating.claim('A')).kind).toBe('send');
  expect((await repeating.claim('A')).kind).toBe('send');

  expect((await outboxWith(2, 60_000).claim('B')).kind).toBe('send');
});

test('a slot that lies too far ahead is not reserved, and the answer says when one is free', async () => {
  const settings = { auth: 1, site: 0, violations: 1, tickets: 1, tow: 0 };
  const budgets = createBudgets(stores.redis, settings);

  expect(await budgets.reserve('auth', 0)).toEqual({ granted: true, inMs: 0, lastsMs: 1000 });
  const refused = await budgets.reserve('auth', 5000);
  expect(refused).toMatchObject({ granted: false });
  expect(refused.inMs).toBeGreaterThan(60_000);
  expect(await budgets.reserve('auth', 70_000)).toMatchObject({ granted: true });
  expect(await budgets.reserve('violations', 0)).toMatchObject({ granted: true, inMs: 0 });
  expect(await budgets.reserve('site', 0)).toEqual({ granted: true, inMs: 0, lastsMs: Infinity });
});
