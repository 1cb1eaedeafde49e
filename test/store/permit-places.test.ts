import { systemClock } from '../../src/platform/clock';
import { createBudgets, slidingWindow, type BudgetSettings } from '../../src/store/service/budgets';
import { KEYS } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { permitPlaces } from '../../src/store/outbox/permit-places';
import { createPermitQueueCheck } from '../../src/store/outbox/permits';
import { createTowStore } from '../../src/store/tow/tows';
import { createViolationStore } from '../../src/store/violation/violations';
import { towViewOf, violationViewOf } from '../../src/workflow/tow/views';
import { eventually } from '../support/eventually';
import type { TowOutbox } from '../support/outboxes';
import { ACCEPTED, GRACE_MS, result, START, useStores } from '../support/stores';
import { openOutbox, reportViolations } from '../support/violations';

const stores = useStores();

const MINUTE_MS = 60_000;
const limitOf = (perMinute: number, minuteMs = MINUTE_MS) => slidingWindow(perMinute, minuteMs);

function outboxWith(perMinute: number, minuteMs?: number): TowOutbox {
  const rateLimit = limitOf(perMinute, minuteMs);
  const limits = { leaseMs: 20_000, graceMs: GRACE_MS, giveUpAfterMs: 3_600_000, rateLimit };
  return createTowOutbox(stores.redis, systemClock, limits);
}

async function start(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}

/** The place in the queue of the first report, as the API shows it. */
async function placeOf(ref: string, perMinute: number, minuteMs?: number) {
  const record = await createTowStore(stores.redis, limitOf(perMinute, minuteMs)).read(ref);
  return record && towViewOf(record).reports[0]?.place_in_queue;
}

const close = (askedMs: number, budget: keyof BudgetSettings = 'tow') => {
  const budgets = createBudgets(stores.redis, { auth: 0, site: 0, violations: 0, tickets: 0, tow: 0 });
  return budgets.observe(budget, { isRefusal: true, askedMs, perMinute: null, remaining: null, resetInMs: null });
};

test('a report that waits for the rate limit shows its place, and the time at which it is scheduled', async () => {
  await start('A', 'B', 'C', 'D', 'E');
  const outbox = outboxWith(2);
  const startedMs = Date.now();
  for (const ref of ['A', 'B', 'C', 'D', 'E']) await outbox.claim(ref);

  expect(await placeOf('A', 2)).toBeNull();
  const places = [await placeOf('C', 2), await placeOf('D', 2), await placeOf('E', 2)];
  expect(places).toMatchObject([
    { place: 1, of: 3, closed_until: null },
    { place: 2, of: 3 },
    { place: 3, of: 3 },
  ]);
  for (const [at, ref] of ['C', 'D', 'E'].entries()) {
    const leavesAtMs = Date.parse(places[at]?.leaves_at ?? '');
    expect(leavesAtMs).toBe(await stores.dueAt(ref));
    // Two leave after one window, the third after two.
    expect(Math.round((leavesAtMs - startedMs) / 61_200)).toBe(at < 2 ? 1 : 2);
  }
});

test('reports leave in the order of their places, and not before the times that were shown', async () => {
  const [limit, minuteMs] = [1, 400];
  const refs = ['A', 'B', 'C', 'D', 'E'];
  await start(...refs);
  const outbox = outboxWith(limit, minuteMs);
  for (const ref of refs) await outbox.claim(ref);
  const shown = new Map<string, number>();
  for (const ref of refs) {
    const place = await placeOf(ref, limit, minuteMs);
    if (place) shown.set(ref, Date.parse(place.leaves_at));
  }
  const left: string[] = [];
  const tooEarly: string[] = [];
  await eventually(async () => {
    // In the wrong order: the queue decides, not who asks first.
    for (const ref of [...shown.keys()].toReversed()) {
      if (left.includes(ref)) continue;
      const claim = await outbox.claim(ref);
      if (claim.kind !== 'send') continue;
      left.push(ref);
      if (claim.permitAtMs < (shown.get(ref) ?? 0)) tooEarly.push(ref);
      await outbox.settle(claim, result(ACCEPTED));
    }
    expect(left).toHaveLength(shown.size);
  });

  expect(shown.size).toBeGreaterThanOrEqual(3);
  expect(left).toEqual([...shown.keys()]);
  expect(tooEarly).toEqual([]);
});

test('a report that waits for a closed budget shows its place and until when the service asked to wait', async () => {
  await start('A', 'B', 'C');
  const outbox = outboxWith(0);
  const { closedForMs } = await close(600_000);
  expect(closedForMs).toBe(600_000);
  for (const ref of ['A', 'B', 'C']) expect((await outbox.claim(ref)).kind).toBe('wait');

  const [first, second] = [await placeOf('A', 0), await placeOf('B', 0)];
  expect([first, second]).toMatchObject([
    { place: 1, of: 3 },
    { place: 2, of: 3 },
  ]);
  // The first tries at the end, the others follow two seconds later.
  expect(first?.leaves_at).toBe(first?.closed_until);
  expect(Date.parse(second?.leaves_at ?? '') - Date.parse(first?.leaves_at ?? '')).toBe(2040);
});

test('a violation that waits for the rate limit shows its place', async () => {
  await reportViolations(stores, 'U1', 'U2', 'U3');
  const outbox = openOutbox(stores, { rateLimit: limitOf(1) });
  for (const id of ['U1', 'U2', 'U3']) await outbox.claim(id);

  const record = await createViolationStore(stores.redis, limitOf(1)).read('U3');

  const view = record && violationViewOf(record);
  expect(view?.place_in_queue).toMatchObject({ place: 2, of: 2 });
  expect(view?.next_attempt_at).toBe(view?.place_in_queue?.leaves_at);
});

test('a report that moves up because others were waived is sent at the time of its new place', async () => {
  await start('A', 'B', 'C', 'D');
  const outbox = outboxWith(1);
  for (const ref of ['A', 'B', 'C', 'D']) await outbox.claim(ref);
  const before = Number(await stores.dueAt('D'));
  for (const ref of ['B', 'C']) await stores.decide(ref, 'started-1', { action: 'waive', reason: 'seen' });

  await createPermitQueueCheck(stores.redis, 'tow', limitOf(1))();

  const place = await placeOf('D', 1);
  expect(place).toMatchObject({ place: 1, of: 1 });
  expect(await stores.dueAt('D')).toBe(Date.parse(place?.leaves_at ?? ''));
  expect(before - Number(await stores.dueAt('D'))).toBeGreaterThanOrEqual(2 * 61_200);
});

test('reading places takes no permit and leaves the queue as it is', async () => {
  await start('A', 'B');
  const outbox = outboxWith(1);
  for (const ref of ['A', 'B']) await outbox.claim(ref);
  const before = await stores.redis.zrange(KEYS.permitQueueTows, '0', '-1', 'WITHSCORES');

  expect((await permitPlaces(stores.redis, 'tow', limitOf(1), ['A', 'B', 'unknown'])).size).toBe(1);

  expect(await stores.redis.zrange(KEYS.permitQueueTows, '0', '-1', 'WITHSCORES')).toEqual(before);
  expect(await stores.redis.llen('{towhook-main}:budget:tow')).toBe(1);
});
