import { systemClock } from '../../src/platform/clock';
import { createLocks } from '../../src/store/redis/locks';
import { movableClock } from '../service/client-under-test';
import { eventually } from '../support/eventually';
import { useStores } from '../support/stores';

const stores = useStores();

const LONG_MS = 60_000;
const SHORT_MS = 50;
const locks = () => createLocks(stores.redis, systemClock);

async function take(ttlMs: number) {
  const lock = await locks().acquire('work', ttlMs);
  if (!lock) throw new Error('the lock is already acquired');
  return lock;
}

test('one of many concurrent callers acquires a lock', async () => {
  const taken = await Promise.all(Array.from({ length: 20 }, () => locks().acquire('work', LONG_MS)));

  expect(taken.filter((lock) => lock !== null)).toHaveLength(1);
});

test('locks with different names are independent', async () => {
  await take(LONG_MS);

  expect(await locks().acquire('other work', LONG_MS)).not.toBeNull();
});

test('each acquisition of a lock gets a higher fencing number, also after the lock expired', async () => {
  const epochs: number[] = [];
  for (let times = 0; times < 3; times += 1) {
    const lock = await take(LONG_MS);
    epochs.push(lock.epoch);
    await lock.release();
  }
  await take(SHORT_MS);
  epochs.push((await eventually(() => take(LONG_MS))).epoch);

  expect(epochs).toEqual([1, 2, 3, 5]);
});

test('an owner that was frozen until its lock expired notices it, and cannot renew or release the lock of another', async () => {
  const frozen = await take(SHORT_MS);
  expect(frozen.isSurelyOwned()).toBe(true);
  const other = await eventually(() => take(LONG_MS));

  expect(frozen.isSurelyOwned()).toBe(false);
  expect(await frozen.renew()).toBe(false);
  await frozen.release();

  expect(await other.renew()).toBe(true);
  await stores.redis.set('{towhook-main}:lock:work', 'a third');
  expect(await other.renew()).toBe(false);
  expect(other.isSurelyOwned()).toBe(false);
  expect(await locks().acquire('work', LONG_MS)).toBeNull();
});

test('an owner whose machine slept until its lock expired notices it, although its monotonic clock stood still', async () => {
  const clock = movableClock();
  const lock = await createLocks(stores.redis, clock).acquire('work', LONG_MS);
  clock.sleepMs(LONG_MS - 1);
  expect(lock?.isSurelyOwned()).toBe(true);

  clock.sleepMs(1);

  expect(lock?.isSurelyOwned()).toBe(false);
  expect(await lock?.renew()).toBe(true);
  expect(lock?.isSurelyOwned()).toBe(true);
});

test('renewing a lock extends it by its lifetime', async () => {
  const lock = await take(LONG_MS);
  await stores.redis.pexpire('{towhook-main}:lock:work', 1000);

  expect(await lock.renew()).toBe(true);

  expect(await stores.redis.pttl('{towhook-main}:lock:work')).toBeGreaterThan(LONG_MS / 2);
  expect(lock.isSurelyOwned()).toBe(true);
});
