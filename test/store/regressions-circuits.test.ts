import { blockedKey, probesKey } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { ACCEPTED, mustClaim, openStores, result, START, type Stores } from '../support/stores';
import { setCircuit } from '../support/stored-records';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

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
