import { KEYS } from '../../src/store/keys';
import type { Migration } from '../../src/store/migrations';
import { checkSchema, knownSchema, prepareSchema, readSchema } from '../../src/store/schema';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const stored = () => stores.redis.get(KEYS.schemaVersion);

/** A release whose migrations to 2, 3, … have these orders. */
const release = (...orders: readonly Migration['order'][]): Migration[] =>
  orders.map((order, at) => ({ number: at + 2, title: 'a test', order, step: () => Promise.resolve(null) }));

test('a release reads data from its last migration that must run before it', () => {
  expect(knownSchema([])).toEqual({ version: 1, readsFrom: 1, oldestReader: 1 });
  expect(knownSchema(release('before', 'after'))).toEqual({ version: 3, readsFrom: 2, oldestReader: 3 });
  expect(knownSchema(release('before', 'after', 'before'))).toEqual({ version: 4, readsFrom: 4, oldestReader: 3 });
});

test('an empty Redis gets the schema of the process that starts first', async () => {
  await prepareSchema(stores.redis, release('before', 'after', 'before'));

  expect(await readSchema(stores.redis)).toEqual({ version: 4, oldestReader: 3 });
});

test('data without a schema version is of schema 1', async () => {
  await stores.request('T1');

  await prepareSchema(stores.redis, release('after'));

  expect(await stored()).toBe('1');
});

test('two releases run on the same data when the newer one only adds', async () => {
  await prepareSchema(stores.redis, release('before'));

  expect(await checkSchema(stores.redis, release())).toEqual({ version: 2, oldestReader: 1 });
  expect(await checkSchema(stores.redis, release('before'))).toEqual({ version: 2, oldestReader: 1 });
});

test('a release runs on the data of an older one until its migration that needs all processes to be new', async () => {
  await prepareSchema(stores.redis, release());

  expect(await checkSchema(stores.redis, release('after'))).toEqual({ version: 1, oldestReader: 1 });
});

test('a release that needs a migration first refuses older data and names the command', async () => {
  await prepareSchema(stores.redis, release());

  await expect(prepareSchema(stores.redis, release('before'))).rejects.toThrow(
    /schema 1.*reads schemas from 2.*migrate/,
  );

  expect(await stored()).toBe('1');
});

test('an older release refuses data that it would damage, and writes no key', async () => {
  await prepareSchema(stores.redis, release('before', 'after'));

  const message = /data of schema 3, which versions of towhook from schema 3 on can use, and this version has schema 2/;
  await expect(prepareSchema(stores.redis, release('before'))).rejects.toThrow(message);

  expect(await stored()).toBe('3');
});

test('a schema version that is not a number is refused and kept', async () => {
  await stores.redis.set(KEYS.schemaVersion, 'two');

  await expect(prepareSchema(stores.redis)).rejects.toThrow('the version of the schema');

  expect(await stored()).toBe('two');
});

test('reading the schema writes no key', async () => {
  expect(await readSchema(stores.redis)).toBeNull();
  await stores.request('T1');
  expect(await readSchema(stores.redis)).toEqual({ version: 1, oldestReader: 1 });
  expect(await stored()).toBeNull();
});
