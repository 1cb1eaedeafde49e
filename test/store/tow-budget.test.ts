import { systemClock } from '../../src/platform/clock';
import { createBudgets, slidingWindow } from '../../src/store/service/budgets';
import { budgetKey, budgetStateField, KEYS } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { Script } from '../../src/store/scripts';
import { NOT_SENT } from '../support/exchanges';
import type { TowOutbox } from '../support/outboxes';
import { readEntry } from '../support/stored-records';
import { ACCEPTED, GRACE_MS, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores();

/** Longer than a worker needs on a busy machine. */
const LEASE_MS = 20_000;

/** An outbox whose rate limit counts in a shorter minute. */
function outboxWith(callsPerMinute: number, minuteMs: number): TowOutbox {
  const rateLimit = slidingWindow(callsPerMinute, minuteMs);
  const limits = { giveUpAfterMs: 3_600_000, rateLimit };
  return createTowOutbox(stores.redis, systemClock, { leaseMs: LEASE_MS, graceMs: GRACE_MS, ...limits });
}

async function tows(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** Forgets all permits, as the end of their window does. */
const endWindow = () => stores.redis.del(budgetKey('tow'));

/** A tow whose only unsent report is its detention. */
async function detainedTow(ref: string): Promise<void> {
  await tows(ref);
  await stores.outbox.settle(await mustClaim(stores.outbox, ref), result(ACCEPTED));
  await stores.say(ref, { event: 'detained' });
}

test('a report over the rate limit waits for its permit and is scheduled for it', async () => {
  await tows('A', 'B', 'C');
  const outbox = outboxWith(2, 60_000);
  for (const ref of ['A', 'B']) expect((await outbox.claim(ref)).kind).toBe('send');

  const wait = await outbox.claim('C');

  // A lease begins with the permit.
  const firstPermitAtMs = Number(await stores.redis.lindex('{towhook-main}:budget:tow', -1));
  const afterFirstMs = wait.kind === 'wait' ? wait.untilMs - firstPermitAtMs : 0;
  expect(afterFirstMs).toBeGreaterThan(60_000);
  expect(afterFirstMs).toBeLessThanOrEqual(61_200);
  expect(await stores.dueAt('C')).toBe(wait.kind === 'wait' ? wait.untilMs : 0);
  expect((await stores.read('C')).reports[0]).toMatchObject({ attempts: 0, waitsFor: 'budget' });
});

test('an answer is stored although no permit can be taken for the next report', async () => {
  await tows('A');
  await stores.say('A', { event: 'detained' });
  const outbox = outboxWith(2, 60_000);
  const claimed = await mustClaim(outbox, 'A');
  await endWindow();
  await stores.redis.set(budgetKey('tow'), 'not a list');

  await expect(outbox.settle(claimed, result(ACCEPTED), true)).rejects.toThrow('WRONGTYPE');

  expect((await stores.read('A')).reports.map(({ state }) => state)).toEqual(['accepted', 'pending']);
  await endWindow();
  expect((await outbox.claim('A')).kind).toBe('send');
});

test('several workers with a backlog never send more reports than the rate limit in any window', async () => {
  const [limit, minuteMs, calls] = [6, 200, 48];
  const refs = Array.from({ length: calls }, (_, index) => `T${index}`);
  await tows(...refs);
  const outbox = outboxWith(limit, minuteMs);
  const sentAtMs: number[] = [];
  const waiting = new Set(refs);
  const work = async () => {
    while (waiting.size > 0) {
      // A copy: the other workers remove tows from the set meanwhile.
      for (const ref of Array.from(waiting)) {
        const claim = await outbox.claim(ref);
        if (claim.kind !== 'send') continue;
        sentAtMs.push(claim.permitAtMs);
        await outbox.settle(claim, result(ACCEPTED));
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

test('started reports receive rate limit permits before earlier reports of other kinds', async () => {
  await detainedTow('D1');
  await detainedTow('D2');
  await tows('A', 'S');
  const outbox = outboxWith(1, 60_000);
  expect((await outbox.claim('A')).kind).toBe('send');
  for (const ref of ['D1', 'D2', 'S']) expect((await outbox.claim(ref)).kind).toBe('wait');

  for (const next of ['S', 'D1', 'D2']) {
    await endWindow();
    const sent: string[] = [];
    for (const ref of ['D2', 'D1', 'S']) if ((await outbox.claim(ref)).kind === 'send') sent.push(ref);
    expect(sent).toEqual([next]);
  }
});

test('a report of a later kind that has waited 10 minutes for its permit comes before new started reports', async () => {
  await detainedTow('D1');
  await tows('A', 'S1', 'S2');
  const outbox = outboxWith(1, 60_000);
  expect((await outbox.claim('A')).kind).toBe('send');
  for (const ref of ['D1', 'S1']) expect((await outbox.claim(ref)).kind).toBe('wait');
  await endWindow();
  expect((await outbox.claim('D1')).kind).toBe('wait');
  // As 10 minutes later.
  await stores.redis.zincrby('{towhook-main}:budget-waiting', -600_000, 'D1');
  await stores.redis.zrem('{towhook-main}:budget-waiting', 'S1');
  for (const ref of ['S1', 'S2']) expect((await outbox.claim(ref)).kind).toBe('wait');

  expect((await outbox.claim('D1')).kind).toBe('send');
});

test('a tow that waits behind others takes an earlier place at once when its release is recorded', async () => {
  const refs = ['D1', 'D2', 'D3'];
  for (const ref of refs) await detainedTow(ref);
  await tows('A');
  const outbox = outboxWith(1, 60_000);
  expect((await outbox.claim('A')).kind).toBe('send');
  for (const ref of refs) expect((await outbox.claim(ref)).kind).toBe('wait');

  await stores.say('D3', { event: 'released' });

  expect(((await stores.dueAt('D3')) ?? Infinity) - Date.now()).toBeLessThan(1000);
  expect((await outbox.claim('D3')).kind).toBe('wait');
  expect(await stores.redis.zrange(KEYS.permitQueueTows, '0', '-1')).toEqual(['D3', 'D1', 'D2']);
});

test('a tow that waits for its permit with an urgent report is not claimed earlier for another report', async () => {
  await tows('A', 'S');
  const outbox = outboxWith(1, 60_000);
  expect((await outbox.claim('A')).kind).toBe('send');
  expect((await outbox.claim('S')).kind).toBe('wait');
  const dueAtMs = await stores.dueAt('S');

  await stores.say('S', { event: 'detained' });
  await stores.say('S', { event: 'released' });

  expect(await stores.dueAt('S')).toBe(dueAtMs);
});

test('reports of later kinds get permits although new started reports never stop', async () => {
  await detainedTow('D1');
  await tows('A');
  const outbox = outboxWith(1, 60_000);
  expect((await outbox.claim('A')).kind).toBe('send');
  expect((await outbox.claim('D1')).kind).toBe('wait');
  const sent: string[] = [];
  for (let number = 0; number < 12; number += 1) {
    // Each window takes a minute, and a new started report arrives in each.
    await tows(`S${number}`);
    await outbox.claim(`S${number}`);
    await stores.redis.zincrby('{towhook-main}:budget-waiting', -60_000, 'D1');
    await endWindow();
    for (const ref of ['D1', `S${number}`]) if ((await outbox.claim(ref)).kind === 'send') sent.push(ref);
  }

  expect(sent).toContain('D1');
  expect(sent.indexOf('D1')).toBeGreaterThan(5);
});

test.each([
  ['the newest, a year', 365 * 86_400_000],
  ['every, a year', 365 * 86_400_000],
  ['every, half an hour', 1_800_000],
])('permits that a clock has put ahead, %s, stop no report', async (which, aheadMs) => {
  await tows('A', 'B');
  const nowMs = Date.now();
  const laterMs = nowMs + aheadMs;
  await stores.redis.rpush(budgetKey('tow'), laterMs, which.startsWith('every') ? laterMs : nowMs);
  const outbox = outboxWith(2, 60_000);

  const claims = [await outbox.claim('A'), await outbox.claim('B')];

  const waits = claims.flatMap((claim) => (claim.kind === 'wait' ? [claim.untilMs] : []));
  expect(Math.max(nowMs, ...waits)).toBeLessThanOrEqual(Date.now() + 2 * 61_200);
});

test.each([
  ['a year', 365 * 86_400_000],
  ['half an hour', 1_800_000],
])(
  'a permit that is exchanged for an unused one is free although a clock has put the newest %s ahead',
  async (_, aheadMs) => {
    const budgets = createBudgets(stores.redis, { auth: 2, site: 0, violations: 0, tickets: 0, tow: 0 });
    const unused = Date.now();
    await stores.redis.rpush(budgetKey('auth'), Date.now() + aheadMs, unused);

    expect(await budgets.reserve('auth', 0, unused)).toMatchObject({ granted: true, inMs: 0 });
  },
);

test('a permit that is exchanged for an unused one counts from now, and the unused one no longer', async () => {
  const budgets = createBudgets(stores.redis, { auth: 3, site: 0, violations: 0, tickets: 0, tow: 0 });
  const [usedMs, unusedMs] = [Date.now() - 5000, Date.now() - 6000];
  await stores.redis.rpush(budgetKey('auth'), usedMs, unusedMs);

  expect(await budgets.reserve('auth', 0, unusedMs)).toMatchObject({ granted: true, inMs: 0 });

  const [newest, ...others] = (await stores.redis.lrange(budgetKey('auth'), 0, -1)).map(Number);
  expect(newest).toBeGreaterThan(usedMs + 4000);
  expect(others).toEqual([usedMs]);
});

test('a permit that is no longer in the log is exchanged for none', async () => {
  const budgets = createBudgets(stores.redis, { auth: 1, site: 0, violations: 0, tickets: 0, tow: 0 });
  await budgets.reserve('auth', 0);

  expect(await budgets.reserve('auth', 0, Date.now() - 600_000)).toMatchObject({ granted: false });
});

test('behind a closed budget reports wait for a permit of our limit each', async () => {
  await tows('A', 'B');
  const opensAtMs = Date.now() + 30_000;
  const state = JSON.stringify({ closed_until: opensAtMs, needs_trial: true });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), state);
  stores.records.forgetCircuits();
  const outbox = outboxWith(1, 60_000);

  expect(await outbox.claim('A')).toEqual({ kind: 'wait', untilMs: opensAtMs });
  const second = await outbox.claim('B');
  expect(second.kind === 'wait' ? second.untilMs : 0).toBeGreaterThan(opensAtMs + 60_000);
});

test('an unused permit that was not the try after a 429 leaves that to its call', async () => {
  await tows('A');
  const outbox = outboxWith(0, 60_000);
  const announced = JSON.stringify({ limit: 5, limit_until: Date.now() + 600_000 });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), announced);
  stores.records.forgetCircuits();
  const claimed = await mustClaim(outbox, 'A');
  expect(claimed.permitAtMs).toBeGreaterThan(0);
  const tried = JSON.stringify({ needs_trial: true, tried_at: (claimed.permitAtMs ?? 0) + 1 });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), tried);
  const notSent = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;

  await outbox.settle(claimed, result(notSent, { exchange: NOT_SENT, isPermitSpent: false }));

  expect(await stores.redis.hget(KEYS.circuits, budgetStateField('tow'))).toBe(tried);
});

test('a permit that a clock has put ahead counts as none of the calls that the service has counted', async () => {
  const budgets = createBudgets(stores.redis, { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 });
  await stores.redis.rpush(budgetKey('tow'), Date.now() + 3_600_000);

  const seen = { isRefusal: false, askedMs: null, perMinute: 4, remaining: 2, resetInMs: 60_000 };
  await budgets.observe('tow', seen);

  const permits = (await stores.redis.lrange(budgetKey('tow'), 0, -1)).map((at) => Number(at) <= Date.now());
  expect(permits).toEqual([true, true]);
});

test('a try after a 429 that a clock has put half an hour ahead stops no report', async () => {
  await tows('A');
  const state = JSON.stringify({ needs_trial: true, tried_at: Date.now() + 1_800_000 });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), state);

  expect((await outboxWith(2, 60_000).claim('A')).kind).toBe('send');
});

test('a budget that a clock has closed until tomorrow stops no report', async () => {
  await tows('A');
  const state = JSON.stringify({ closed_until: Date.now() + 86_400_000, needs_trial: true });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), state);

  expect((await outboxWith(2, 60_000).claim('A')).kind).toBe('send');
});

test('a try after a 429 whose call was never sent is made by the next report', async () => {
  await tows('A', 'B');
  const closed = JSON.stringify({ closed_until: Date.now() - 1000, needs_trial: true, strikes: 3 });
  await stores.redis.hset(KEYS.circuits, budgetStateField('tow'), closed);
  stores.records.forgetCircuits();
  const outbox = outboxWith(0, 60_000);
  const state = async () =>
    JSON.parse((await stores.redis.hget(KEYS.circuits, budgetStateField('tow'))) ?? '') as unknown;
  const claimed = await mustClaim(outbox, 'A');
  expect(await state()).toMatchObject({ tried_at: claimed.permitAtMs });
  const notSent = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;

  await outbox.settle(claimed, result(notSent, { exchange: NOT_SENT, isPermitSpent: false }));

  expect(await state()).toEqual(JSON.parse(closed));
  const tried = await mustClaim(outbox, 'B');
  expect(await state()).toMatchObject({ needs_trial: true, tried_at: tried.permitAtMs, strikes: 3 });
});

test('a permit that no call has used is free for the next report in line, which is due at once', async () => {
  await tows('A', 'B');
  const outbox = outboxWith(1, 60_000);
  const claimed = await mustClaim(outbox, 'A');
  expect((await outbox.claim('B')).kind).toBe('wait');
  const notSent = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;

  await outbox.settle(claimed, result(notSent, { exchange: NOT_SENT, isPermitSpent: false }));

  expect(((await stores.dueAt('B')) ?? Infinity) - Date.now()).toBeLessThan(1000);
  expect((await outbox.claim('B')).kind).toBe('send');
});

test('an attempt is settled although its unused permit cannot be given back', async () => {
  await tows('A');
  const outbox = outboxWith(1, 60_000);
  const claimed = await mustClaim(outbox, 'A');
  // It is called with its script below.
  // oxlint-disable-next-line typescript/unbound-method
  const run = Script.prototype.run;
  const names: string[] = [];
  jest.spyOn(Script.prototype, 'run').mockImplementation(function (this: Script, ...args: Parameters<typeof run>) {
    names.push(this.name);
    return this.name === 'return-permit' ? Promise.reject(new Error('Connection is closed.')) : run.apply(this, args);
  });
  const notSent = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;

  const stored = await outbox.settle(claimed, result(notSent, { exchange: NOT_SENT, isPermitSpent: false }));

  jest.restoreAllMocks();
  expect(names).toContain('return-permit');
  expect(stored.kind).toBe('done');
  const entry = await readEntry(stores.redis, { ref: 'A' }, 1);
  expect(entry).toMatchObject({ state: 'pending', failures: 1, attemptId: null });
});

test('a tow whose report was waived leaves the rate limit queue', async () => {
  await tows('A', 'B', 'C');
  const outbox = outboxWith(1, 60_000);
  for (const ref of ['A', 'B', 'C']) await outbox.claim(ref);
  await stores.decide('B', 'started-1', { action: 'waive', reason: 'seen' });

  expect(await stores.redis.zrangebyscore('{towhook-main}:budget-waiting', '-inf', '+inf')).toEqual(['C']);
  await endWindow();
  expect((await outbox.claim('C')).kind).toBe('send');
});

test('a repeated claim whose reply was lost takes no second rate limit permit', async () => {
  await tows('A', 'B');
  const fixed = { ...systemClock, id: () => 'the-same-id' };
  const rateLimit = slidingWindow(2);
  const limits = { leaseMs: 5000, graceMs: GRACE_MS, giveUpAfterMs: 3_600_000, rateLimit };
  const repeating = createTowOutbox(stores.redis, fixed, limits);
  expect((await repeating.claim('A')).kind).toBe('send');
  expect((await repeating.claim('A')).kind).toBe('send');

  expect((await outboxWith(2, 60_000).claim('B')).kind).toBe('send');
});

test('a rate limit permit that is too far ahead is not reserved, and the result gives the time until it is free', async () => {
  const settings = { auth: 1, site: 0, violations: 1, tickets: 1, tow: 0 };
  const budgets = createBudgets(stores.redis, settings);

  const startedMs = systemClock.nowMs();
  expect(await budgets.reserve('auth', 0)).toEqual({ granted: true, inMs: 0, lastsMs: 1000 });
  const refused = await budgets.reserve('auth', 5000);
  expect(refused).toMatchObject({ granted: false });
  expect(systemClock.nowMs() + refused.inMs).toBeGreaterThanOrEqual(startedMs + 61_200);
  expect(refused.inMs).toBeLessThanOrEqual(61_200);
  expect(await budgets.reserve('auth', 70_000)).toMatchObject({ granted: true });
  expect(await budgets.reserve('violations', 0)).toMatchObject({ granted: true, inMs: 0 });
  expect(await budgets.reserve('site', 0)).toEqual({ granted: true, inMs: 0, lastsMs: Infinity });
});
