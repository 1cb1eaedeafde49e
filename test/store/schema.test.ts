import { KEYS } from '../../src/store/keys';
import { knownSchemaVersion, prepareSchema, readSchemaVersion, type Migration } from '../../src/store/schema';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
});
afterEach(() => stores.close());

const stored = () => stores.redis.get(KEYS.schemaVersion);

/** Migrations that note that they ran, and with what version of the schema. */
function notingMigrations(count: number): { migrations: Migration[]; ran: string[] } {
  const ran: string[] = [];
  const migrations = Array.from({ length: count }, (_, at) => ({
    description: `to ${at + 2}`,
    migrate: async () => {
      ran.push(`to ${at + 2}, from ${(await stored()) ?? 'none'}`);
    },
  }));
  return { migrations, ran };
}

test('an empty Redis gets the version that the process knows, without a migration', async () => {
  const { migrations, ran } = notingMigrations(2);

  expect(await prepareSchema(stores.redis, migrations)).toEqual({ before: null, after: 3 });

  expect([await stored(), ran]).toEqual(['3', []]);
});

test('data without a version is of schema 1 and is migrated from there, one version after the other', async () => {
  await stores.request('T1');
  const { migrations, ran } = notingMigrations(2);

  expect(await prepareSchema(stores.redis, migrations)).toEqual({ before: 1, after: 3 });

  expect([await stored(), ran]).toEqual(['3', ['to 2, from 1', 'to 3, from 2']]);
});

test('data of an older schema runs only the migrations that it lacks', async () => {
  await stores.redis.set(KEYS.schemaVersion, 2);
  const { migrations, ran } = notingMigrations(3);

  await prepareSchema(stores.redis, migrations);
  await prepareSchema(stores.redis, migrations);

  expect([await stored(), ran]).toEqual(['4', ['to 3, from 2', 'to 4, from 3']]);
});

test('a migration that fails keeps the version before it, and runs again at the next start', async () => {
  await stores.redis.set(KEYS.schemaVersion, 1);
  const { migrations, ran } = notingMigrations(1);
  const failing = { description: 'fails', migrate: () => Promise.reject(new Error('no')) };

  await expect(prepareSchema(stores.redis, [...migrations, failing])).rejects.toThrow('no');
  expect([await stored(), ran]).toEqual(['2', ['to 2, from 1']]);

  await prepareSchema(stores.redis, notingMigrations(2).migrations);
  expect(await stored()).toBe('3');
});

test('data of a later schema is refused with both numbers, and nothing is written', async () => {
  await stores.redis.set(KEYS.schemaVersion, 4);

  const message = /data of schema 4, and this version of towhook knows schemas up to 2/;
  await expect(prepareSchema(stores.redis, notingMigrations(1).migrations)).rejects.toThrow(message);

  expect(await stored()).toBe('4');
});

test('a version that is no number is refused and kept', async () => {
  await stores.redis.set(KEYS.schemaVersion, 'two');

  await expect(prepareSchema(stores.redis)).rejects.toThrow('the version of the schema');

  expect(await stored()).toBe('two');
});

test.each([
  ['older', 'newer'],
  ['newer', 'older'],
] as const)(
  'of two processes that start on an empty Redis together, the %s first, the newer decides',
  async (...order) => {
    const migrations = { older: [], newer: notingMigrations(1).migrations };

    await Promise.allSettled(order.map((which) => prepareSchema(stores.redis, migrations[which])));

    expect(await stored()).toBe('2');
  },
);

test('the version is read without being written', async () => {
  expect(await readSchemaVersion(stores.redis)).toBeNull();
  await stores.request('T1');
  expect(await readSchemaVersion(stores.redis)).toBe(1);
  expect([await stored(), knownSchemaVersion()]).toEqual([null, 1]);
});
