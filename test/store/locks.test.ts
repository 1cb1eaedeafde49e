import { systemClock } from '../../src/platform/clock';
import { createLocks } from '../../src/store/locks';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const LONG_MS = 60_000;
const SHORT_MS = 50;
const locks = () => createLocks(stores.redis, systemClock);

async function take(ttlMs: number) {
  const lock = await locks().take('work', ttlMs);
  if (!lock) throw new Error('somebody holds the lock');
  return lock;
}

test('of many who want a lock at the same time one gets it', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => locks().take('work', LONG_MS)));

  expect(taken.filter((lock) => lock !== null)).toHaveLength(1);
});

test('locks of different names are held side by side', async () => {
  await take(LONG_MS);

  expect(await locks().take('other work', LONG_MS)).not.toBeNull();
});

test('every taking gets a higher number, also after the lock ran out', async () => {
  const epochs: number[] = [];
  for (let times = 0; times < 3; times += 1) {
    const lock = await take(LONG_MS);
    epochs.push(lock.epoch);
    await lock.giveBack();
  }
  await take(SHORT_MS);
  epochs.push((await eventually(() => take(LONG_MS))).epoch);

  expect(epochs).toEqual([1, 2, 3, 5]);
});

test('a holder that was frozen until its lock ran out knows, cannot renew it, and cannot give back that of another', async () => {
  const frozen = await take(SHORT_MS);
  expect(frozen.isSurelyHeld()).toBe(true);
  const other = await eventually(() => take(LONG_MS));

  expect(frozen.isSurelyHeld()).toBe(false);
  expect(await frozen.renew()).toBe(false);
  await frozen.giveBack();

  expect(await other.renew()).toBe(true);
  await stores.redis.set('{p0}:lock:work', 'a third');
  expect(await other.renew()).toBe(false);
  expect(other.isSurelyHeld()).toBe(false);
  expect(await locks().take('work', LONG_MS)).toBeNull();
});

test('a lock that is renewed in time outlasts its time', async () => {
  const lock = await take(LONG_MS);
  await stores.redis.pexpire('{p0}:lock:work', 1000);

  expect(await lock.renew()).toBe(true);

  expect(await stores.redis.pttl('{p0}:lock:work')).toBeGreaterThan(LONG_MS / 2);
  expect(lock.isSurelyHeld()).toBe(true);
});
