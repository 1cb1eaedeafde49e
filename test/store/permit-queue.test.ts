import { systemClock } from '../../src/platform/clock';
import { budgetKey, KEYS, towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { createPermitQueueCheck } from '../../src/store/outbox/permits';
import { recordsOf } from '../../src/store/outbox/records';
import { withhold } from '../../src/domain/outbox/withheld';
import { walk } from '../support/conservation';
import type { TowOutbox } from '../support/outboxes';
import { ACCEPTED, GRACE_MS, mustClaim, result, START, useStores } from '../support/stores';
import { openOutbox, reportViolations } from '../support/violations';

const stores = useStores();
let outbox: TowOutbox;
/** Looks at the line of the tows, as the scheduler does. */
let check: () => Promise<void>;
let laterMs: number;
beforeEach(async () => {
  const limits = { giveUpAfterMs: 3_600_000, rateLimit: { limit: 1, windowMs: 60_000 } };
  outbox = createTowOutbox(stores.redis, systemClock, { leaseMs: 20_000, graceMs: GRACE_MS, ...limits });
  laterMs = 0;
  const records = recordsOf(stores.redis);
  const nowMs = records.nowMs.bind(records);
  jest.spyOn(records, 'nowMs').mockImplementation(async () => (await nowMs()) + laterMs);
  check = createPermitQueueCheck(stores.redis, 'tow');
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function start(...refs: string[]): Promise<void> {
  for (const ref of refs) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
}
/** As 10 s later. */
async function checkLater(): Promise<void> {
  laterMs += 10_000;
  await check();
}
const line = () => stores.redis.zrange(KEYS.permitQueueTows, '0', '-1');
/** What a process leaves behind that took a place and died before its commit. */
const leavePlaceOf = (ref: string) => stores.redis.zadd(KEYS.permitQueueTows, 1, ref);

test('a tow that waits for no permit is removed from the waiting queue, and the next one gets the permit', async () => {
  await start('A', 'B', 'C');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));
  expect((await outbox.claim('B')).kind).toBe('send');
  expect((await outbox.claim('C')).kind).toBe('wait');
  await leavePlaceOf('A');
  await stores.redis.del(budgetKey('tow'));
  expect((await outbox.claim('C')).kind).toBe('wait');

  await check();
  await checkLater();

  expect(await line()).toEqual(['C']);
  expect(await stores.dueAt('C')).toBeLessThanOrEqual(Date.now() + laterMs + 1000);
  expect((await outbox.claim('C')).kind).toBe('send');
});

test('a missing tow is removed from the waiting queue', async () => {
  await leavePlaceOf('gone');
  await check();
  await checkLater();
  expect(await line()).toEqual([]);
});

test('a tow that cannot be decoded is removed from the waiting queue', async () => {
  await start('A');
  await stores.redis.hset(towKey('A'), 'r1', '{"seq":');
  await leavePlaceOf('A');
  await check();
  await checkLater();
  expect(await line()).toEqual([]);
});

test('tows that wait for a permit keep their positions in the waiting queue', async () => {
  await start('A', 'B', 'C');
  for (const ref of ['A', 'B', 'C']) await outbox.claim(ref);
  for (let looks = 0; looks < 3; looks += 1) await checkLater();
  expect(await line()).toEqual(['B', 'C']);
});

test.each([
  ['retry', { action: 'retry' }],
  ['correct', { action: 'correct', fields: { plate_number: 'ABC 4321' } }],
] as const)('a tow keeps its position in the waiting queue after a decision on its report: %s', async (_, command) => {
  await start('A', 'B', 'C');
  for (const ref of ['A', 'B', 'C']) await outbox.claim(ref);

  await stores.decide('B', 'started-1', command);

  expect(await line()).toEqual(['B', 'C']);
  expect(((await stores.dueAt('B')) ?? Infinity) - Date.now()).toBeLessThan(1000);
  expect((await outbox.claim('B')).kind).toBe('wait');
  expect(await line()).toEqual(['B', 'C']);
});

test('a member of the waiting queue with a running claim is kept until the second check', async () => {
  await start('A');
  await leavePlaceOf('A');
  await check();
  expect(await line()).toEqual(['A']);
});

test('a member of the waiting queue is kept when its record has changed since the last check', async () => {
  await start('A');
  await leavePlaceOf('A');
  await check();
  await stores.say('A', { event: 'detained' });
  await checkLater();
  expect(await line()).toEqual(['A']);
});

test('one check reads at most twenty members at the front of the waiting queue', async () => {
  for (let number = 0; number < 25; number += 1) await leavePlaceOf(`gone-${number}`);
  await check();
  await checkLater();
  expect(await line()).toHaveLength(5);
});

test('polling the schedules of tows and violations removes abandoned members from the waiting queues', async () => {
  const violations = openOutbox(stores, { rateLimit: { limit: 1, windowMs: 60_000 } });
  await reportViolations(stores, 'U1', 'U2');
  for (const id of ['U1', 'U2']) await violations.claim(id);
  await stores.redis.zadd(KEYS.permitQueueViolations, 1, 'gone');
  await leavePlaceOf('gone');
  for (let looks = 0; looks < 2; looks += 1) {
    laterMs += 10_000;
    await stores.schedules.reports.pollDue(10, 1000);
    await stores.schedules.violations.pollDue(10, 1000);
  }

  expect(await line()).toEqual([]);
  expect(await stores.redis.zrange(KEYS.permitQueueViolations, '0', '-1')).toEqual(['U2']);
});

test('a tow that is held since a shadow time leaves the waiting queue, and the next one gets the permit', async () => {
  await start('A', 'B', 'C');
  await stores.outbox.settle(await mustClaim(outbox, 'A'), result(ACCEPTED));
  for (const ref of ['B', 'C']) expect((await outbox.claim(ref)).kind).toBe('wait');
  expect(await line()).toEqual(['B', 'C']);

  await stores.say('B', { event: 'detained' });
  await stores.change('B', withhold);

  expect(await line()).toEqual(['C']);
  await stores.redis.del(budgetKey('tow'));
  expect((await outbox.claim('C')).kind).toBe('send');
});

test('a tow whose permit is more than a day ahead is not lost: it asks again before that and keeps its place', async () => {
  const others = Array.from({ length: 1500 }, (_, at) => [at, `T${at}`]).flat();
  await start('A', 'B');
  expect((await outbox.claim('A')).kind).toBe('send');
  await stores.redis.zadd(KEYS.permitQueueTows, ...others);
  expect((await outbox.claim('B')).kind).toBe('wait');

  const { lostNames } = await walk(stores.redis);

  expect([lostNames, await stores.generalTasks()]).toEqual([[], []]);
  expect((await outbox.claim('B')).kind).toBe('wait');
  expect(await stores.redis.zrank(KEYS.permitQueueTows, 'B')).toBe(1500);
});
