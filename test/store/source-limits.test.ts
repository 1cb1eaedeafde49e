import { PARTITION } from '../../src/store/keys';
import {
  createCallCounter,
  createSignInLimit,
  createWrongKeyLimit,
  SIGN_IN_RETURNS_MAX,
  SIGN_IN_STARTS_MAX,
  WRONG_KEYS_MAX,
} from '../../src/store/person/source-limits';
import type { SourceLimit } from '../../src/workflow/operator-port';
import { useOwnRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const SOURCE = '192.0.2.7';
const KEY = `${PARTITION}:wrong-keys:${SOURCE}`;

async function reachLimit(limit: SourceLimit): Promise<void> {
  for (let index = 0; index < WRONG_KEYS_MAX; index += 1) expect(await limit.count(SOURCE)).toBeNull();
}

test('accepts ten wrong keys of a source in a minute, then returns the time until the next one', async () => {
  const limit = createWrongKeyLimit(stores.redis);
  await reachLimit(limit);
  for (let again = 0; again < 3; again += 1) {
    const waitMs = await limit.count(SOURCE);
    expect(waitMs).toBeGreaterThan(0);
    expect(waitMs).toBeLessThanOrEqual(60_000);
  }
});

test('counts the wrong keys of each source separately', async () => {
  const limit = createWrongKeyLimit(stores.redis);
  await reachLimit(limit);
  expect(await limit.count('192.0.2.8')).toBeNull();
});

test('keeps one count per source in Redis for at most a minute, and writes nothing while the source is over its limit', async () => {
  const limit = createWrongKeyLimit(stores.redis);
  await reachLimit(limit);
  const expiresAt = await stores.redis.pexpiretime(KEY);
  expect(await stores.redis.pttl(KEY)).toBeLessThanOrEqual(60_000);
  for (let index = 0; index < 30; index += 1) await limit.count(SOURCE);
  expect(await stores.redis.get(KEY)).toBe(String(WRONG_KEYS_MAX));
  expect(await stores.redis.pexpiretime(KEY)).toBe(expiresAt);
});

test('counts wrong keys in the process itself while Redis is down', async () => {
  const limit = createWrongKeyLimit(stores.redis);
  await redis.kill();
  await reachLimit(limit);
  expect(await limit.count(SOURCE)).toBeGreaterThan(0);
  expect(await createWrongKeyLimit(stores.redis).count(SOURCE)).toBeNull();
});

test('limits the sign-ins that a source begins and does not finish, for all processes together', async () => {
  const [one, other] = [createSignInLimit(stores.redis), createSignInLimit(stores.redis)];
  for (let index = 0; index < SIGN_IN_STARTS_MAX; index += 1) expect(await one.countStart(SOURCE)).toBeNull();
  for (const limit of [one, other]) expect(await limit.countStart(SOURCE)).toBeGreaterThan(0);
  expect(await other.countStart('192.0.2.8')).toBeNull();
});

test('takes a start that led to a session back, so that any number of people can sign in from one source', async () => {
  const limit = createSignInLimit(stores.redis);
  for (let index = 0; index < SIGN_IN_STARTS_MAX * 2; index += 1) {
    expect(await limit.countStart(SOURCE)).toBeNull();
    await limit.forgiveStart(SOURCE);
  }
  expect(await stores.redis.pttl(`${PARTITION}:sign-in-starts:${SOURCE}`)).toBeLessThanOrEqual(60_000);
});

test('limits the returns to one sign-in, apart from those to another', async () => {
  const limit = createSignInLimit(stores.redis);
  for (let index = 0; index < SIGN_IN_RETURNS_MAX; index += 1) expect(await limit.countReturn('state-1')).toBeNull();
  expect(await limit.countReturn('state-1')).toBeGreaterThan(60_000);
  expect(await limit.countReturn('state-2')).toBeNull();
});

test('counts webhooks in the process itself before a frozen Redis answers', async () => {
  const counter = createCallCounter(stores.redis);
  expect((await counter.count(SOURCE)).calls).toBe(1);
  redis.freeze();
  let hasAnswered = false;
  const answer = stores.redis.ping().then(() => (hasAnswered = true));
  try {
    expect((await counter.count(SOURCE)).calls).toBe(2);
    expect(hasAnswered).toBe(false);
  } finally {
    redis.thaw();
    await answer;
  }
});
