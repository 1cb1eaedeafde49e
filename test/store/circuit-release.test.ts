import { NO_CIRCUITS } from '../../src/domain/service/stored-circuits';
import { changeOfCircuits } from '../../src/store/service/circuits';
import { blockedKey, KEYS, probesKey } from '../../src/store/keys';
import { recordsOf } from '../../src/store/outbox/records';
import { FAILING } from '../support/exchanges';
import { eventually } from '../support/eventually';
import { letTry, readCircuits, setCircuit } from '../support/stored-records';
import { ACCEPTED, mustClaim, result, START, useStores } from '../support/stores';

const stores = useStores({ leaseMs: 60_000 });

const BLOCKED = 2500;
const SLICE = 1000;
const LATER_MS = 600_000;

/** Opens the service circuit with 2,500 tows that it blocks. */
async function openWithBlocked(): Promise<void> {
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + LATER_MS });
  const refs = Array.from({ length: BLOCKED }, (_, index) => `B${index}`);
  const atMs = Date.now() + LATER_MS;
  await stores.redis.sadd(blockedKey('outage'), refs);
  await stores.redis.sadd(probesKey('outage'), refs);
  await stores.redis.zadd(KEYS.dueTows, ...refs.flatMap((ref) => [atMs, ref]));
}

/** How many of the blocked tows are due. */
async function dueNow(): Promise<number> {
  const [seconds] = await stores.redis.time();
  return stores.redis.zcount(KEYS.dueTows, '-inf', (Number(seconds) + 1) * 1000);
}

/** Polls until nothing more is released; returns how many tows were due after each poll, none of them taken. */
async function pollUntilReleased(): Promise<number[]> {
  const counts = [await dueNow()];
  await eventually(async () => {
    await stores.schedules.reports.pollDue(0, 0);
    counts.push(await dueNow());
    expect(await stores.redis.smembers(KEYS.releasing)).toEqual([]);
  });
  return counts;
}

function stepsOf(counts: readonly number[]): number[] {
  return counts.slice(1).map((count, index) => count - (counts[index] ?? 0));
}

async function startedTow(ref: string): Promise<void> {
  await stores.request(ref);
  await stores.say(ref, START);
}

test('closing the service circuit makes 2,500 blocked tows due in slices of 1,000', async () => {
  await startedTow('T1');
  const claim = await mustClaim(stores.outbox, 'T1');
  await openWithBlocked();

  await stores.outbox.settle(claim, result(ACCEPTED));
  const counts = await pollUntilReleased();

  expect(counts[0]).toBe(SLICE);
  expect(Math.max(...stepsOf(counts))).toBe(SLICE);
  expect(counts.at(-1)).toBe(BLOCKED);
});

test('schedulers release all blocked tows when the process that closed the circuit dies after its commit', async () => {
  await openWithBlocked();
  const before = await readCircuits(stores.redis);
  const change = changeOfCircuits(before, { ...NO_CIRCUITS }, { closed: ['outage'], newId: () => 'test' });
  const { records, effects } = change;
  expect(await recordsOf(stores.redis).commit({ records, effects })).toBe('done');

  const counts = await pollUntilReleased();

  expect(counts[0]).toBe(0);
  expect(Math.max(...stepsOf(counts))).toBe(SLICE);
  expect(counts.at(-1)).toBe(BLOCKED);
  // None of them probes the next outage.
  expect(await stores.redis.exists(probesKey('outage'))).toBe(0);
});

test('a circuit that has blocked nothing is released when it closes', async () => {
  const [commit, nothing] = [recordsOf(stores.redis), { records: [] }];
  await commit.commit({ ...nothing, effects: [['SADD', KEYS.releasing, 'outage']] });

  await stores.schedules.reports.pollDue(10, 0);

  expect(await stores.redis.smembers(KEYS.releasing)).toEqual([]);
});

test('a failed probe makes some of the blocked tows due for the next probe, and not all', async () => {
  await startedTow('T1');
  await openWithBlocked();
  await letTry(stores.redis, 'outage');
  const probe = await mustClaim(stores.outbox, 'T1');

  const failed = { next: 'retry', delayMs: 0, because: 'failed' } as const;
  await stores.outbox.settle(probe, result(failed, { exchange: FAILING, outageDelayMs: 30_000 }));

  const { untilMs = 0 } = (await readCircuits(stores.redis)).open.outage ?? {};
  const woken = async () => (await stores.redis.zrangebyscore(KEYS.dueTows, untilMs, untilMs)).length;
  await eventually(async () => expect(await woken()).toBeGreaterThan(0));
  expect(await woken()).toBeLessThanOrEqual(10);
});

test('a tow that was released while the circuit opened again is released when it closes the second time', async () => {
  await startedTow('T1');
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + LATER_MS });
  expect((await stores.outbox.claim('T1')).kind).toBe('wait');
  expect(await stores.redis.smembers(blockedKey('outage'))).toEqual(['T1']);
  // Closed and open again, before the tow had its turn.
  await stores.redis.del(blockedKey('outage'), probesKey('outage'));
  expect((await stores.outbox.claim('T1')).kind).toBe('wait');

  await startedTow('T2');
  await letTry(stores.redis, 'outage');
  await stores.outbox.settle(await mustClaim(stores.outbox, 'T2'), result(ACCEPTED));

  expect(await stores.schedules.reports.pollDue(10, 1000)).toContain('T1');
  expect((await stores.outbox.claim('T1')).kind).toBe('send');
});
