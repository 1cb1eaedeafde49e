import { DataKeys } from '../../src/platform/data-keys';
import { privateAccess } from '../../src/store/redis/access';
import { dataKeyFaults, forgetDataKeys, neededDataKeys, noteDataKeys } from '../../src/store/ops/data-keys';
import { createDeliveryStore, createIntake } from '../../src/store/webhook/deliveries';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { reencryptValues, valueKeys } from '../../src/store/ops/reencrypt';
import { dataKeysText, linesOf } from '../support/data-keys';
import { useRedis } from '../support/redis';
import { openStores, START, type Stores } from '../support/stores';
import { textOfRedis } from '../support/whole-redis';

const redis = useRedis();
const text = dataKeysText('a', 'b');
const opened: Stores[] = [];
afterEach(() => {
  for (const stores of opened.splice(0)) stores.close();
});

const keysOf = (...ids: readonly string[]) => new DataKeys('', linesOf(text, ...ids));

/** Stores of a process with these keys of one file; without any, of a process without the file. */
async function storesWith(...ids: readonly string[]): Promise<Stores> {
  const stores = await openStores(privateAccess(redis.url, ids.length === 0 ? null : keysOf(...ids)));
  opened.push(stores);
  return stores;
}

const reencrypt = (stores: Stores, ...ids: readonly string[]) =>
  reencryptValues(stores.redis, { keys: keysOf(...ids), onStep: () => {} });

/** The ids of the keys of all values; null for plain ones. */
async function keysIn(stores: Stores) {
  const ids = new Set<string | null>();
  for await (const id of valueKeys(stores.redis)) ids.add(id);
  return [...ids];
}

const plates = async (stores: Stores, words: string) => {
  const filter = { states: [], attention: false, unsent: false, crew: null, overdueAfter: null, order: null } as const;
  const { items } = await stores.tows.list({ ...filter, search: words, cursor: null, limit: 10 });
  return items.map(({ tow }) => tow.towingReferenceId);
};

test('what was stored without keys is encrypted, its plates are hashed, and a call on another path stays readable', async () => {
  const plain = await storesWith();
  const ref = await plain.request('T1');
  await plain.say(ref, { ...START, plateNumber: 'ABJ 1235' });
  const call = { path: '/elsewhere', verified: false, rawBody: 'of Majed', namesTow: false };
  await createIntake(plain.redis, systemClock).keepOther(call);
  expect(await textOfRedis(redis.url)).toContain('abj1235');

  const encrypting = await storesWith('a');
  expect(await plates(encrypting, 'ABJ 1235')).toEqual([ref]);
  await reencrypt(encrypting, 'a');

  const stored = await textOfRedis(redis.url);
  for (const secret of ['ABJ 1235', 'abj1235', START.towedLocation, 'Majed']) expect(stored).not.toContain(secret);
  expect(await keysIn(encrypting)).toEqual(['a']);
  expect(await plates(encrypting, 'abj1235')).toEqual([ref]);
  expect(await createDeliveryStore(encrypting.redis).others(1)).toMatchObject([{ raw_body: 'of Majed' }]);
});

test('the plate of a tow that changes meanwhile is hashed too', async () => {
  const plain = await storesWith();
  const ref = await plain.request('T1');
  await plain.say(ref, { ...START, plateNumber: 'ABJ 1235' });
  const encrypting = await storesWith('a');
  const readVersion = encrypting.redis.hget.bind(encrypting.redis);
  const plates = jest.spyOn(encrypting.redis, 'zrangebylex').mockImplementationOnce(async (...args) => {
    const members = await plain.redis.zrangebylex(...args);
    jest.spyOn(encrypting.redis, 'hget').mockImplementationOnce(async (...asked) => {
      const version = await readVersion(...asked);
      await encrypting.say(ref, { event: 'detained' });
      return version;
    });
    return members;
  });

  await reencrypt(encrypting, 'a');

  plates.mockRestore();
  expect(await textOfRedis(redis.url)).not.toContain('abj1235');
});

test('a readable plate in the search index counts as plain', async () => {
  const encrypting = await storesWith('a');
  await encrypting.redis.zadd(KEYS.search, 0, 'plate:abj1235\nT1');

  expect(await keysIn(encrypting)).toEqual([null]);
});

test('a rotation while processes of both keys write loses nothing, and then the old key is not needed', async () => {
  const [older, newer] = [await storesWith('a', 'b'), await storesWith('b', 'a')];
  const refs = await Promise.all(Array.from({ length: 6 }, (_, at) => older.request(`T${at}`)));
  const work = refs.map(async (ref, at) => {
    await (at % 2 === 0 ? older : newer).say(ref, START);
    await (at % 2 === 0 ? newer : older).say(ref, { event: 'detained' });
  });
  await Promise.all([...work, reencrypt(newer, 'b', 'a')]);

  await reencrypt(newer, 'b', 'a');
  expect(await keysIn(newer)).toEqual(['b']);
  const after = await storesWith('b');
  for (const ref of refs) {
    expect((await after.read(ref)).tow).toMatchObject({ state: 'detained', plateNumber: START.plateNumber });
    expect(await after.states(ref)).toEqual(['started pending', 'detained pending']);
  }
});

test('re-encrypting changes no version, so that a process that holds a lease goes on', async () => {
  const stores = await storesWith('a');
  const ref = await stores.request('T1');
  const { version } = await stores.read(ref);
  const rotating = await storesWith('b', 'a');
  await reencrypt(rotating, 'b', 'a');

  expect((await rotating.read(ref)).version).toBe(version);
});

test('a process knows which keys it lacks or has with another content, until nothing needs them', async () => {
  const { redis: connection } = await storesWith('a');
  await noteDataKeys(connection, keysOf('a'));
  const other = new DataKeys('', dataKeysText('a'));

  expect(await dataKeyFaults(connection, keysOf('b', 'a'))).toEqual([]);
  expect(await dataKeyFaults(connection, keysOf('b'))).toEqual([{ id: 'a', fault: 'missing' }]);
  expect(await dataKeyFaults(connection, null)).toHaveLength(2);
  expect((await dataKeyFaults(connection, other)).map(({ fault }) => fault)).toEqual(['different', 'different']);
  await forgetDataKeys(connection, ['a']);
  expect(await neededDataKeys(connection)).toEqual(['search']);
});
