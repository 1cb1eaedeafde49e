import { systemClock } from '../../src/platform/clock';
import { budgetKey, KEYS, towKey } from '../../src/store/keys';
import { createTowOutbox } from '../../src/store/outbox';
import { createLineCheck } from '../../src/store/permit-line';
import { recordsOf } from '../../src/store/records';
import type { TowOutbox } from '../support/outboxes';
import { useRedis } from '../support/redis';
import { ACCEPTED, GRACE_MS, mustClaim, openStores, result, START, type Stores } from '../support/stores';
import { openOutbox, reportViolations } from '../support/violations';

const redis = useRedis();
let stores: Stores;
let outbox: TowOutbox;
/** Looks at the line of the tows, as the poller does. */
let check: () => Promise<void>;
let laterMs: number;
beforeEach(async () => {
  stores = await openStores(redis.url);
  const limits = { giveUpAfterMs: 3_600_000, towBudget: { limit: 1, windowMs: 60_000 } };
  outbox = createTowOutbox(stores.redis, systemClock, { leaseMs: 20_000, unknownGraceMs: GRACE_MS, ...limits });
  laterMs = 0;
  const records = recordsOf(stores.redis);
  const nowMs = records.nowMs.bind(records);
  jest.spyOn(records, 'nowMs').mockImplementation(async () => (await nowMs()) + laterMs);
  check = createLineCheck(stores.redis, 'tow');
});
afterEach(() => {
  jest.restoreAllMocks();
  stores.close();
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
const line = () => stores.redis.zrange(KEYS.slotWaiting, '0', '-1');
/** What a process leaves behind that took a place and died before its commit. */
const leavePlaceOf = (ref: string) => stores.redis.zadd(KEYS.slotWaiting, 1, ref);

test('a place of a tow that waits for no permit is taken away, and the next in line gets the permit', async () => {
  await start('A', 'B', 'C');
  await stores.outbox.ack(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));
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

test('a place of a tow that is gone is taken away', async () => {
  await leavePlaceOf('gone');
  await check();
  await checkLater();
  expect(await line()).toEqual([]);
});

test('a place of a tow that cannot be read is taken away', async () => {
  await start('A');
  await stores.redis.hset(towKey('A'), 'r1', '{"seq":');
  await leavePlaceOf('A');
  await check();
  await checkLater();
  expect(await line()).toEqual([]);
});

test('tows that wait for a permit keep their places', async () => {
  await start('A', 'B', 'C');
  for (const ref of ['A', 'B', 'C']) await outbox.claim(ref);
  for (let looks = 0; looks < 3; looks += 1) await checkLater();
  expect(await line()).toEqual(['B', 'C']);
});

test('a place whose claim is under way is kept until the second look', async () => {
  await start('A');
  await leavePlaceOf('A');
  await check();
  expect(await line()).toEqual(['A']);
});

test('a place is kept when its record has changed since the last look', async () => {
  await start('A');
  await leavePlaceOf('A');
  await check();
  await stores.say('A', { event: 'detained' });
  await checkLater();
  expect(await line()).toEqual(['A']);
});

test('at most twenty places at the front of the line are looked at in one go', async () => {
  for (let number = 0; number < 25; number += 1) await leavePlaceOf(`gone-${number}`);
  await check();
  await checkLater();
  expect(await line()).toHaveLength(5);
});

test('the pollers of tows and violations take such places away', async () => {
  const violations = openOutbox(stores, { violationBudget: { limit: 1, windowMs: 60_000 } });
  await reportViolations(stores, 'U1', 'U2');
  for (const id of ['U1', 'U2']) await violations.claim(id);
  await stores.redis.zadd(KEYS.violationSlotWaiting, 1, 'gone');
  await leavePlaceOf('gone');
  for (let looks = 0; looks < 2; looks += 1) {
    laterMs += 10_000;
    await stores.due.tows.take(10, 1000);
    await stores.due.violations.take(10, 1000);
  }

  expect(await line()).toEqual([]);
  expect(await stores.redis.zrange(KEYS.violationSlotWaiting, '0', '-1')).toEqual(['U2']);
});
