import { PARTITION } from '../../src/store/keys';
import { createWrongKeyStore } from '../../src/store/wrong-keys';
import { redisNowMs } from '../support/redis-clock';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const LIMIT = { max: 10, windowMs: 60_000 };
const KEY = `${PARTITION}:wrong-keys:192.0.2.7`;
const count = (source = '192.0.2.7') => createWrongKeyStore(stores.redis).count(source, LIMIT);

async function reachLimit(): Promise<void> {
  for (let index = 0; index < LIMIT.max; index += 1) expect(await count()).toBeNull();
}

/** Makes the oldest counted key of the source older by so much. */
async function age(byMs: number): Promise<void> {
  const oldest = Number(await stores.redis.lindex(KEY, 0));
  await stores.redis.lset(KEY, 0, String(oldest - byMs));
}

test('counts ten wrong keys of a source within any minute, and one more for each that is older', async () => {
  await reachLimit();
  expect(await count()).toBeGreaterThan(0);
  await age(LIMIT.windowMs);
  expect(await count()).toBeNull();
  expect(await count()).toBeGreaterThan(0);
});

test('tells when the next wrong key is counted, never more than the window ahead', async () => {
  await reachLimit();
  await age(LIMIT.windowMs - 5000);
  expect(await count()).toBeLessThanOrEqual(5000);
  // As after a step of the clock backwards.
  await age(-10 * LIMIT.windowMs);
  expect(await count()).toBe(LIMIT.windowMs);
});

test('counts each source by itself', async () => {
  await reachLimit();
  expect(await count('192.0.2.8')).toBeNull();
});

test('keeps ten timestamps of a source for a minute, and writes nothing for further wrong keys', async () => {
  await reachLimit();
  const before = await stores.redis.lrange(KEY, 0, -1);
  const expiresAt = await stores.redis.pexpiretime(KEY);
  expect(expiresAt - (await redisNowMs(stores.redis))).toBeLessThanOrEqual(LIMIT.windowMs);
  for (let index = 0; index < 30; index += 1) await count();
  expect(await stores.redis.lrange(KEY, 0, -1)).toEqual(before);
  expect(await stores.redis.pexpiretime(KEY)).toBe(expiresAt);
  expect(before).toHaveLength(LIMIT.max);
});

test('keeps only the last ten timestamps', async () => {
  await reachLimit();
  await age(LIMIT.windowMs);
  await count();
  expect(await stores.redis.llen(KEY)).toBe(LIMIT.max);
});
