import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createLookupCache } from '../../src/store/lookups';
import type { Asked, LookupCache } from '../../src/workflow/lookup-port';
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
const answer = (mark: string): Asked => ({
  kind: 'answered',
  answer: { data: { mark }, checkedAtMs: 1_700_000_000_000 },
});
const FAILED: Asked = {
  kind: 'not_answered',
  because: { why: 'unavailable', retryAfterMs: 5000, exchange: { kind: 'unanswered', cause: 'timeout' } },
};

/** The cache as one process has it, with a connection of its own. */
function cacheOf(process: number, keptMs = KEPT_MS): LookupCache {
  const stores = open[process];
  if (!stores) throw new Error('no such process');
  return createLookupCache(stores.redis, { clock: systemClock, log: silentLog, keptMs });
}

/** A call that ends when the test says so. */
function heldCall() {
  let end: (asked: Asked) => void = () => {};
  let begun = 0;
  const ended = new Promise<Asked>((resolve) => (end = resolve));
  const ask = () => {
    begun += 1;
    return ended;
  };
  return { ask, end: (asked: Asked) => end(asked), begun: () => begun };
}

const never = () => Promise.reject(new Error('nobody may ask the service'));
const keys = async () => {
  const found = await open[0]?.redis.keys('*lookup*');
  return found ?? [];
};

test('50 who ask the same at once, in two processes, are one call', async () => {
  const call = heldCall();
  const caches = [cacheOf(0), cacheOf(1)];
  const asking = Array.from({ length: 50 }, (_, nth) => (caches[nth % 2] ?? cacheOf(0)).once(QUESTION, call.ask));
  await eventually(() => expect(call.begun()).toBe(1));
  call.end(answer('one'));

  for (const asked of await Promise.all(asking)) expect(asked).toEqual(answer('one'));
  expect(call.begun()).toBe(1);
});

test('while a call is under way nobody else makes one, however long it takes', async () => {
  const call = heldCall();
  const first = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  // Without its holder's renewals the right to ask would end many times over in this test.
  const lock = (await keys()).find((key) => key.includes('lookup-lock')) ?? '';
  await open[0]?.redis.pexpire(lock, 1500);
  await eventually(async () => expect(await open[0]?.redis.pttl(lock)).toBeGreaterThan(2000));
  const second = cacheOf(1).once(QUESTION, never);
  call.end(answer('one'));

  expect(await Promise.all([first, second])).toEqual([answer('one'), answer('one')]);
});

test('an answer serves others while it is kept, in every process, and no longer', async () => {
  await cacheOf(0, 300).once(QUESTION, () => Promise.resolve(answer('first')));

  expect(await cacheOf(0, 300).once(QUESTION, never)).toEqual(answer('first'));
  expect(await cacheOf(1, 300).once(QUESTION, never)).toEqual(answer('first'));
  await eventually(async () => {
    const again = await cacheOf(1, 300).once(QUESTION, () => Promise.resolve(answer('second')));
    expect(again).toEqual(answer('second'));
  });
});

test('an answer that is not kept at all still serves those who waited for it, and nobody after them', async () => {
  const call = heldCall();
  const first = cacheOf(0, 0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  let looks = 0;
  const watched = { ...systemClock, random: () => ((looks += 1), 0) };
  const stores = open[1];
  if (!stores) throw new Error('no second process');
  const second = createLookupCache(stores.redis, { clock: watched, log: silentLog, keptMs: 0 }).once(QUESTION, never);
  await eventually(() => expect(looks).toBeGreaterThan(0));
  call.end(answer('one'));

  expect(await Promise.all([first, second])).toEqual([answer('one'), answer('one')]);
  expect(await cacheOf(1, 0).once(QUESTION, () => Promise.resolve(answer('two')))).toEqual(answer('two'));
});

test('a failure is kept for nobody: whoever comes next asks', async () => {
  expect(await cacheOf(0).once(QUESTION, () => Promise.resolve(FAILED))).toEqual(FAILED);
  expect(await keys()).toEqual([]);

  expect(await cacheOf(1).once(QUESTION, () => Promise.resolve(answer('one')))).toEqual(answer('one'));
});

test('those of one process who waited for a call that failed share its failure', async () => {
  const call = heldCall();
  const cache = cacheOf(0);
  const asking = Array.from({ length: 10 }, () => cache.once(QUESTION, call.ask));
  await eventually(() => expect(call.begun()).toBe(1));
  call.end(FAILED);

  for (const asked of await Promise.all(asking)) expect(asked).toEqual(FAILED);
  expect(call.begun()).toBe(1);
});

test('another process takes over at once when the call it waited for failed, and knows how long it waited', async () => {
  const call = heldCall();
  const first = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  let toldMs = -1;
  const startedMs = systemClock.monotonicMs();
  const second = cacheOf(1).once(QUESTION, (waitedMs) => {
    toldMs = waitedMs;
    return Promise.resolve(answer('mine'));
  });
  await eventually(() => expect(systemClock.monotonicMs() - startedMs).toBeGreaterThan(150));
  call.end(FAILED);

  expect(await Promise.all([first, second])).toEqual([FAILED, answer('mine')]);
  expect(toldMs).toBeGreaterThanOrEqual(100);
});

test('another takes over when the holder has died', async () => {
  const call = heldCall();
  void cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  // A process that is gone renews nothing and gives nothing back.
  open[0]?.close();

  expect(await cacheOf(1).once(QUESTION, () => Promise.resolve(answer('mine')))).toEqual(answer('mine'));
  call.end(FAILED);
});

test('a holder that lost its right does not overwrite what came after it, and has its own answer', async () => {
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

test('other questions are other calls', async () => {
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

test('keys name no plate, and all of them end by themselves', async () => {
  const call = heldCall();
  const asking = cacheOf(0).once(QUESTION, call.ask);
  await eventually(() => expect(call.begun()).toBe(1));
  const during = await keys();
  call.end(answer('one'));
  await asking;
  const after = await keys();

  expect([during.length, after.length]).toEqual([1, 1]);
  for (const key of [...during, ...after]) expect(key).toMatch(/^\{p0\}:lookup(-lock)?:[0-9a-f]{64}$/);
  for (const key of after) expect(await open[0]?.redis.pttl(key)).toBeGreaterThan(KEPT_MS / 2);
});

test('an answer that cannot be kept is still the answer', async () => {
  const asked = await cacheOf(0).once(QUESTION, async () => {
    open[0]?.close();
    return answer('one');
  });

  expect(asked).toEqual(answer('one'));
});
