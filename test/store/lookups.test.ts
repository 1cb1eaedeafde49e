import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createLookupCache } from '../../src/store/service/lookups';
import type { LookupOutcome, LookupCache } from '../../src/workflow/service/lookups';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
const open: Stores[] = [];
beforeEach(async () => {
  open.push(await openStores(redis.url), await openStores(redis.url));
});
afterEach(() => {
  for (const stores of open.splice(0)) if (stores.redis.status !== 'end') stores.close();
});

const KEPT_MS = 60_000;
const QUESTION = ['ticket', 'zone-1', 'QZWX 1234', 'PRIVATE'];
const answer = (mark: string): LookupOutcome => ({
  kind: 'answered',
  answer: { data: { mark }, checkedAtMs: 1_700_000_000_000 },
});
const FAILED: LookupOutcome = {
  kind: 'not_answered',
  because: { why: 'unavailable', retryAfterMs: 5000, exchange: { kind: 'unanswered', cause: 'timeout' } },
};

/** The cache of one process, on its own connection. */
function cacheOf(process: number, keptMs = KEPT_MS): LookupCache {
  const stores = open[process];
  if (!stores) throw new Error('no such process');
  return createLookupCache(stores.redis, { clock: systemClock, log: silentLog, keptMs });
}

/** A call to the service that ends when the test calls `end`. */
function heldCall() {
  let end: (asked: LookupOutcome) => void = () => {};
  let begun = 0;
  const ended = new Promise<LookupOutcome>((resolve) => (end = resolve));
  const ask = () => {
    begun += 1;
    return ended;
  };
  return { ask, end: (asked: LookupOutcome) => end(asked), begun: () => begun };
}

const never = () => Promise.reject(new Error('the service must not be called'));
const keys = async () => {
  const found = await open[0]?.redis.keys('*lookup*');
  return found ?? [];
};

/** The key of the lock that the process of the call holds. */
async function lockOfTheCall(): Promise<string> {
  const [lock] = (await keys()).filter((key) => key.includes('lookup-lock'));
  if (lock === undefined) throw new Error('no process holds the lock');
  return lock;
}

test('50 concurrent lookups with the same question in two processes make one call', async () => {
  const call = heldCall();
  const caches = [cacheOf(0), cacheOf(1)];
  const asking = Array.from({ length: 50 }, (_, nth) => (caches[nth % 2] ?? cacheOf(0)).once(QUESTION, call.ask));
  await eventually(() => expect(call.begun()).toBe(1));
  call.end(answer('one'));

  for (const asked of await Promise.all(asking)) expect(asked).toEqual(answer('one'));
  expect(call.begun()).toBe(1);
});

test('a lookup call that takes longer than its lock lasts keeps other processes from making the same call', async () => {
  const call = heldCall();
  const first = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  const lock = await lockOfTheCall();
  // Only a renewal can set the remaining time above this.
  await open[0]?.redis.pexpire(lock, 3000);
  await eventually(async () => expect(await open[0]?.redis.pttl(lock)).toBeGreaterThan(3200));
  const second = cacheOf(1).once(QUESTION, never);
  call.end(answer('one'));

  expect(await Promise.all([first, second])).toEqual([answer('one'), answer('one')]);
});

test('a cached lookup answers every process until it expires, and the next lookup calls the service', async () => {
  await cacheOf(0).once(QUESTION, () => Promise.resolve(answer('first')));

  expect(await cacheOf(0).once(QUESTION, never)).toEqual(answer('first'));
  expect(await cacheOf(1).once(QUESTION, never)).toEqual(answer('first'));
  await eventually(async () => {
    const again = await cacheOf(1, 300).once(QUESTION, () => Promise.resolve(answer('second')));
    expect(again).toEqual(answer('second'));
  });
});

test('with caching off, a lookup answer serves the lookups that waited for it and no later lookup', async () => {
  const call = heldCall();
  const first = cacheOf(0, 0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  let polls = 0;
  const watched = { ...systemClock, random: () => ((polls += 1), 0) };
  const stores = open[1];
  if (!stores) throw new Error('no second process');
  const second = createLookupCache(stores.redis, { clock: watched, log: silentLog, keptMs: 0 }).once(QUESTION, never);
  await eventually(() => expect(polls).toBeGreaterThan(0));
  call.end(answer('one'));

  expect(await Promise.all([first, second])).toEqual([answer('one'), answer('one')]);
  expect(await cacheOf(1, 0).once(QUESTION, () => Promise.resolve(answer('two')))).toEqual(answer('two'));
});

test('a failed lookup is not cached: the next lookup calls the service', async () => {
  expect(await cacheOf(0).once(QUESTION, () => Promise.resolve(FAILED))).toEqual(FAILED);
  expect(await keys()).toEqual([]);

  expect(await cacheOf(1).once(QUESTION, () => Promise.resolve(answer('one')))).toEqual(answer('one'));
});

test('concurrent lookups in one process share the failure of their one call', async () => {
  const call = heldCall();
  const cache = cacheOf(0);
  const asking = Array.from({ length: 10 }, () => cache.once(QUESTION, call.ask));
  await eventually(() => expect(call.begun()).toBe(1));
  call.end(FAILED);

  for (const asked of await Promise.all(asking)) expect(asked).toEqual(FAILED);
  expect(call.begun()).toBe(1);
});

test('a process whose lookup waited for the failed call of another process makes the call, with the waited time', async () => {
  const call = heldCall();
  const first = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  let waitedForMs = -1;
  const startedMs = systemClock.monotonicMs();
  const second = cacheOf(1).once(QUESTION, (waitedMs) => {
    waitedForMs = waitedMs;
    return Promise.resolve(answer('mine'));
  });
  await eventually(() => expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(150));
  call.end(FAILED);

  expect(await Promise.all([first, second])).toEqual([FAILED, answer('mine')]);
  expect(waitedForMs).toBeGreaterThanOrEqual(100);
});

test('another process makes the lookup call once the lock of a process that died has expired', async () => {
  const call = heldCall();
  void cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  const lock = await lockOfTheCall();
  // The dead process neither renews nor removes its lock.
  open[0]?.close();
  const leftMs = (await open[1]?.redis.pttl(lock)) ?? 0;
  expect([leftMs > 0, leftMs <= 4000]).toEqual([true, true]);
  await open[1]?.redis.pexpire(lock, 1);

  expect(await cacheOf(1).once(QUESTION, () => Promise.resolve(answer('mine')))).toEqual(answer('mine'));
  call.end(FAILED);
});

test('a process that lost its lookup lock returns its own answer and does not overwrite the newer cached answer', async () => {
  const call = heldCall();
  const frozen = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  const [lock = ''] = await keys();
  await open[0]?.redis.del(lock);
  await cacheOf(1).once(QUESTION, () => Promise.resolve(answer('newer')));
  call.end(answer('older'));

  expect(await frozen).toEqual(answer('older'));
  expect(await cacheOf(1).once(QUESTION, never)).toEqual(answer('newer'));
});

test('lookups with different questions make separate calls', async () => {
  const ask = (mark: string) => () => Promise.resolve(answer(mark));
  const cache = cacheOf(0);

  expect(await cache.once(QUESTION, ask('one'))).toEqual(answer('one'));
  for (const other of [
    ['ticket', 'zone-1', 'QZWX 1235', 'PRIVATE'],
    ['ticket', 'zone-1', 'QZWX 1234', 'TAXI'],
    ['capacity'],
  ]) {
    expect(await cache.once(other, ask('other'))).toEqual(answer('other'));
  }
});

test('the keys of cached lookups contain no plate, and each has an expiry', async () => {
  const call = heldCall();
  const asking = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  const during = await keys();
  call.end(answer('one'));
  await asking;
  const after = await keys();

  expect([during.length, after.length]).toEqual([1, 1]);
  for (const key of [...during, ...after]) expect(key).toMatch(/^\{towhook-main\}:lookup(-lock)?:[0-9a-f]{64}$/);
  for (const key of after) expect(await open[0]?.redis.pttl(key)).toBeGreaterThan(KEPT_MS / 2);
});

test('a lookup returns its answer when the answer cannot be cached', async () => {
  const asked = await cacheOf(0).once(QUESTION, async () => {
    open[0]?.close();
    return answer('one');
  });

  expect(asked).toEqual(answer('one'));
});
