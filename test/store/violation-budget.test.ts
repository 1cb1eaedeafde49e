import { slidingWindow } from '../../src/store/service/budgets';
import { budgetKey, KEYS } from '../../src/store/keys';
import { createSendingStore } from '../../src/store/service/sending';
import { eventually } from '../support/eventually';
import { NOT_SENT, NO_PERMIT, refusedWith } from '../support/exchanges';
import { useStores } from '../support/stores';
import {
  decide,
  mustClaimViolation,
  openOutbox,
  outcome,
  readViolation,
  reportViolations,
  takenAs,
} from '../support/violations';

const stores = useStores();

const namesOf = (count: number) => Array.from({ length: count }, (_, index) => `U${String(index).padStart(3, '0')}`);
const LEASE_MS = 5000;
const outboxWith = (callsPerMinute: number, minuteMs: number) =>
  openOutbox(stores, { leaseMs: LEASE_MS, rateLimit: slidingWindow(callsPerMinute, minuteMs) });

async function redisNowMs(): Promise<number> {
  const [seconds, micros] = await stores.redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}

test('several workers with a backlog never send more violations than the rate limit in any window', async () => {
  const [limit, minuteMs] = [20, 200];
  const ids = namesOf(100);
  await reportViolations(stores, ...ids);
  const outbox = outboxWith(limit, minuteMs);
  const sentAtMs: number[] = [];
  const waiting = new Set(ids);
  const work = async () => {
    while (waiting.size > 0) {
      // A copy: the other workers remove violations from the set meanwhile.
      for (const id of Array.from(waiting)) {
        const claim = await outbox.claim(id);
        if (claim.kind !== 'send') continue;
        sentAtMs.push(claim.permitAtMs);
        await outbox.settle(claim, takenAs(`V-${id}`));
        waiting.delete(id);
      }
    }
  };

  await Promise.all([work(), work(), work()]);

  const sent = sentAtMs.toSorted((a, b) => a - b);
  expect(sent).toHaveLength(ids.length);
  const spans = sent.slice(limit).map((at, index) => at - (sent[index] ?? 0));
  expect(Math.min(...spans)).toBeGreaterThanOrEqual(slidingWindow(limit, minuteMs).windowMs);
});

test('a violation over the rate limit waits for its permit, is scheduled for it and is counted', async () => {
  await reportViolations(stores, 'U1', 'U2');
  const outbox = outboxWith(1, 60_000);
  await mustClaimViolation(outbox, 'U1');

  const wait = await outbox.claim('U2');

  expect(wait.kind).toBe('wait');
  const dueAt = Number(await stores.redis.zscore(KEYS.dueViolations, 'U2'));
  expect(wait).toMatchObject({ untilMs: dueAt });
  expect(dueAt - Date.now()).toBeGreaterThan(50_000);
  expect(await readViolation(stores, 'U2')).toMatchObject({ waitsFor: 'budget', attempts: 0, state: 'pending' });
  const budgets = { auth: 0, site: 0, violations: 1, tickets: 0, tow: 0 };
  const shown = (await createSendingStore(stores.redis, budgets).read()).budgets;
  expect(shown).toContainEqual(expect.objectContaining({ name: 'violations', limit: 1, used: 1, waiting: 1 }));
});

test('violations receive rate limit permits in the order of their reports, not of their claims', async () => {
  const ids = ['U3', 'U1', 'U2', 'U0'];
  for (const id of ids) {
    await reportViolations(stores, id);
    const reportedAtMs = await redisNowMs();
    await eventually(async () => expect(await redisNowMs()).toBeGreaterThan(reportedAtMs));
  }
  const outbox = outboxWith(1, 60_000);
  await mustClaimViolation(outbox, 'U3');
  for (const id of ['U0', 'U2', 'U1']) expect((await outbox.claim(id)).kind).toBe('wait');

  for (const next of ['U1', 'U2', 'U0']) {
    // Forgets all permits, as the end of their window does.
    await stores.redis.del(budgetKey('violations'));
    const sent: string[] = [];
    for (const id of ['U0', 'U2', 'U1']) if ((await outbox.claim(id)).kind === 'send') sent.push(id);
    expect(sent).toEqual([next]);
  }
});

test('a violation that the service refused for its rate limit asks for its next permit behind those that wait', async () => {
  await reportViolations(stores, 'U1');
  const reportedAtMs = await redisNowMs();
  await eventually(async () => expect(await redisNowMs()).toBeGreaterThan(reportedAtMs));
  await reportViolations(stores, 'U2');
  const outbox = outboxWith(1, 60_000);
  const claimed = await mustClaimViolation(outbox, 'U1');
  expect((await outbox.claim('U2')).kind).toBe('wait');

  const throttled = { next: 'retry', delayMs: 0, because: 'throttled' } as const;
  await outbox.settle(claimed, outcome(throttled, { exchange: refusedWith(429) }));
  expect((await outbox.claim('U1')).kind).toBe('wait');

  expect(await stores.redis.zrangebyscore(KEYS.permitQueueViolations, '-inf', '+inf')).toEqual(['U2', 'U1']);
});

test('a violation that was waived leaves the rate limit queue', async () => {
  await reportViolations(stores, 'U1', 'U2', 'U3');
  const outbox = outboxWith(1, 60_000);
  for (const id of ['U1', 'U2', 'U3']) await outbox.claim(id);
  await decide(stores, 'U2', { action: 'waive', reason: 'no' });

  expect(await stores.redis.zrangebyscore(KEYS.permitQueueViolations, '-inf', '+inf')).toEqual(['U3']);
});

test('a returned rate limit permit serves exactly one other violation', async () => {
  await reportViolations(stores, 'U1', 'U2', 'U3');
  const outbox = outboxWith(1, 60_000);
  const claimed = await mustClaimViolation(outbox, 'U1');
  await outbox.giveBack(claimed, { kind: 'images_unseen', delayMs: 60_000 });

  await mustClaimViolation(outbox, 'U2');
  expect((await outbox.claim('U3')).kind).toBe('wait');
});

describe('violation attempt without a request', () => {
  const DROPPED = { next: 'hold', delayMs: 60_000, because: 'dropped' } as const;
  const RETRY_UNSENT = { next: 'retry', delayMs: 60_000, because: 'surely_not_sent' } as const;

  test.each([
    ['dropped', DROPPED, NO_PERMIT],
    ['surely not sent', RETRY_UNSENT, NOT_SENT],
  ])(
    'a violation attempt that sent no request returns its permit and makes the first violation in the queue due (%s)',
    async (_what, verdict, exchange) => {
      await reportViolations(stores, 'U1', 'U2', 'U3');
      const outbox = outboxWith(1, 60_000);
      const claimed = await mustClaimViolation(outbox, 'U1');
      for (const id of ['U2', 'U3']) expect((await outbox.claim(id)).kind).toBe('wait');

      await outbox.settle(claimed, outcome(verdict, { exchange, isPermitSpent: false }));

      // A process estimates the time of Redis and may be a few milliseconds ahead of it.
      expect(Number(await stores.redis.zscore(KEYS.dueViolations, 'U2')) - (await redisNowMs())).toBeLessThan(1_000);
      expect(Number(await stores.redis.zscore(KEYS.dueViolations, 'U3')) - Date.now()).toBeGreaterThan(50_000);
      await mustClaimViolation(outbox, 'U2');
      expect((await outbox.claim('U3')).kind).toBe('wait');
    },
  );

  test('a violation attempt that sent no request keeps its permit when an earlier request was answered', async () => {
    await reportViolations(stores, 'U1', 'U2');
    const outbox = outboxWith(1, 60_000);
    await outbox.settle(
      await mustClaimViolation(outbox, 'U1'),
      outcome(DROPPED, { exchange: NO_PERMIT, isPermitSpent: true }),
    );

    expect((await outbox.claim('U2')).kind).toBe('wait');
  });
});
