import { KEYS } from '../../src/store/keys';
import type { Migration } from '../../src/store/migrations';
import { prepareSchema, readSchema } from '../../src/store/ops/schema';
import { useStores } from '../support/stores';

const stores = useStores();

const stored = () => stores.redis.get(KEYS.schemaVersion);

/** A release whose last migration has this number. */
const release = (last: number): Migration[] =>
  Array.from({ length: last - 1 }, (_, at) => ({ number: at + 2, title: 'a test', step: () => Promise.resolve(null) }));

test('an empty Redis gets the schema of the process that starts first', async () => {
  await prepareSchema(stores.redis, release(4));

  expect(await readSchema(stores.redis)).toBe(4);
});

test('data without a schema version is of schema 1', async () => {
  await stores.request('T1');

  await prepareSchema(stores.redis, release(1));

  expect(await stored()).toBe('1');
});

test('a release that needs a migration refuses older data and names the command', async () => {
  await prepareSchema(stores.redis, release(1));

  await expect(prepareSchema(stores.redis, release(2))).rejects.toThrow(
    'data of schema 1, and this version of towhook has schema 2: run `towhook migrate` of this version first',
  );

  expect(await stored()).toBe('1');
});

test('an older release refuses data of a later schema, and writes no key', async () => {
  await prepareSchema(stores.redis, release(3));

  await expect(prepareSchema(stores.redis, release(2))).rejects.toThrow(
    'data of schema 3, and this version of towhook has schema 2: start the version that wrote it, or a later one',
  );

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
  expect(await readSchema(stores.redis)).toBe(1);
  expect(await stored()).toBeNull();
});
