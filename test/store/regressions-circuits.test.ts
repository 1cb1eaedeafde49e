import { blockedKey, probesKey } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { ACCEPTED, mustClaim, openStores, result, START, type Stores } from '../support/stores';
import { readCircuits, setCircuit } from '../support/stored-records';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const FAILED = { next: 'retry', delayMs: 0, because: 'failed' } as const;
const failing = result(FAILED, { service: 'failing', wasAnswered: true, outageDelayMs: 60_000 });

async function starting(refs: readonly string[]): Promise<void> {
  await Promise.all(refs.map((ref) => stores.request(ref)));
  await Promise.all(refs.map((ref) => stores.say(ref, START)));
}

test('a report that a circuit blocks again after it was released is released again', async () => {
  await starting(['A', 'B']);
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 60_000 });
  expect((await stores.outbox.claim('B')).kind).toBe('wait');
  await setCircuit(stores.redis, 'outage', { untilMs: 1 });
  await stores.outbox.ack(await mustClaim(stores.outbox, 'A'), result(ACCEPTED));
  expect(await stores.redis.smembers(blockedKey('outage'))).toEqual([]);
  await setCircuit(stores.redis, 'outage', { untilMs: Date.now() + 60_000 });

  expect((await stores.outbox.claim('B')).kind).toBe('wait');

  expect(await stores.redis.smembers(blockedKey('outage'))).toEqual(['B']);
  expect(await stores.redis.smembers(probesKey('outage'))).toEqual(['B']);
});

test('the failures of a hundred reports that end at the same time are all stored', async () => {
  const refs = Array.from({ length: 100 }, (_, place) => `T${place}`);
  await starting(refs);
  const claims = await Promise.all(refs.map((ref) => mustClaim(stores.outbox, ref)));

  const stored = await Promise.allSettled(claims.map((claim) => stores.outbox.ack(claim, failing)));

  expect(stored.filter(({ status }) => status === 'rejected')).toEqual([]);
  expect((await readCircuits(stores.redis)).open.outage).toBeDefined();
});
