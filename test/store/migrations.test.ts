import { KEYS } from '../../src/store/keys';
import { MIGRATIONS, type Migration } from '../../src/store/migrations';
import { migrate as migrateOnce, pendingMigrations } from '../../src/store/migrations/run';
import { createProcessStore } from '../../src/store/ops/processes';
import { checkSchema, readSchema } from '../../src/store/ops/schema';
import { beatingProcess, NOTHING } from '../support/processes';
import { type Stores, useStores } from '../support/stores';

const stores = useStores();
beforeEach(async () => {
  await stores.redis.set(KEYS.schemaVersion, 1);
});

const migrate = (client: Stores['redis'], migrations: readonly Migration[], waitMs = 0) =>
  migrateOnce(client, { migrations, waitMs });

/** A migration of three steps; `ran` gets the cursor of each. */
function noting(number: number, ran: string[] = []): Migration {
  const step: Migration['step'] = (_redis, cursor) => {
    ran.push(`${number} from ${cursor ?? 'the start'}`);
    const next = { '': 'a', a: 'b' }[cursor ?? ''];
    return Promise.resolve(next ?? null);
  };
  return { number, title: 'a test', step };
}

test('migrations have the numbers from 2 without a gap', () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, at) => at + 2));
});

test('all pending migrations run step by step in their order, once', async () => {
  const ran: string[] = [];
  const migrations = [noting(2, ran), noting(3, ran)];

  expect(await migrate(stores.redis, migrations)).toEqual([]);
  expect(await migrate(stores.redis, migrations)).toEqual([]);

  const steps = ['the start', 'a', 'b'];
  expect(ran).toEqual([...steps.map((step) => `2 from ${step}`), ...steps.map((step) => `3 from ${step}`)]);
  expect(await readSchema(stores.redis)).toBe(3);
});

test('a failed run continues after its last complete step', async () => {
  const ran: string[] = [];
  const migration = noting(2, ran);
  const failing: Migration = {
    ...migration,
    step: (client, cursor) => (cursor === 'b' ? Promise.reject(new Error('no')) : migration.step(client, cursor)),
  };
  await expect(migrate(stores.redis, [failing])).rejects.toThrow('no');
  expect(await pendingMigrations(stores.redis, [failing])).toMatchObject([{ number: 2, isBegun: true }]);
  await expect(checkSchema(stores.redis, [failing])).rejects.toThrow('not completely migrated');

  expect(await migrate(stores.redis, [migration])).toEqual([]);

  expect(ran).toEqual(['2 from the start', '2 from a', '2 from b']);
});

test('two runs at once leave the version and the place of the last step', async () => {
  const migrations = [noting(2), noting(3)];

  const runs = await Promise.all([migrate(stores.redis, migrations), migrate(stores.redis, migrations)]);

  expect(runs).toEqual([[], []]);
  expect(await readSchema(stores.redis)).toBe(3);
});

test('a migration refuses older processes from its beginning, and waits until none of them runs', async () => {
  const processes = createProcessStore(stores.redis);
  await processes.beat(beatingProcess('old', { role: 'worker' }), NOTHING);
  await processes.beat(beatingProcess('new', { schema: 2 }), NOTHING);
  const ran: string[] = [];
  const migrations = [noting(2, ran)];

  const waiting = await migrate(stores.redis, migrations);
  expect(waiting).toMatchObject([
    { number: 2, isBegun: true, waitsFor: ['worker on host-of-the-tests, version 1.2.3'] },
  ]);
  expect(ran).toEqual([]);
  await expect(checkSchema(stores.redis, [])).rejects.toThrow('start the version that wrote it');
  await expect(checkSchema(stores.redis, migrations)).rejects.toThrow('not completely migrated');

  const run = migrate(stores.redis, migrations, 60_000);
  await processes.leave('old', NOTHING);
  expect(await run).toEqual([]);
  expect(await checkSchema(stores.redis, migrations)).toBe(2);
});

test('an empty Redis needs no migration', async () => {
  await stores.redis.del(KEYS.schemaVersion);

  expect(await migrate(stores.redis, [noting(2)])).toEqual([]);

  expect(await stores.redis.exists(KEYS.schemaVersion, KEYS.migrations)).toBe(0);
});
