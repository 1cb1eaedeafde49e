import { KEYS } from '../../src/store/keys';
import { MIGRATIONS, type Migration } from '../../src/store/migrations';
import { isInScope, migrate, pendingMigrations } from '../../src/store/migrations/run';
import { createProcessStore } from '../../src/store/processes';
import { readSchema } from '../../src/store/schema';
import { beatingProcess, NOTHING } from '../support/processes';
import { useRedis } from '../support/redis';
import { openStores, type Stores } from '../support/stores';

const redis = useRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
  await stores.redis.set(KEYS.schemaVersion, 1);
});
afterEach(() => stores.close());

/** A migration of three steps; `ran` gets the cursor of each. */
function noting(number: number, order: Migration['order'], ran: string[]): Migration {
  const step: Migration['step'] = (_redis, cursor) => {
    ran.push(`${number} from ${cursor ?? 'the start'}`);
    const next = { '': 'a', a: 'b' }[cursor ?? ''];
    return Promise.resolve(next ?? null);
  };
  return { number, title: `a test of ${order}`, order, step };
}

test('migrations have the numbers from 2 without a gap', () => {
  expect(MIGRATIONS.map(({ number }) => number)).toEqual(MIGRATIONS.map((_, at) => at + 2));
});

test('all pending migrations run step by step in their order, once', async () => {
  const ran: string[] = [];
  const migrations = [noting(2, 'before', ran), noting(3, 'after', ran)];

  expect(await migrate(stores.redis, migrations)).toEqual([]);
  expect(await migrate(stores.redis, migrations)).toEqual([]);

  const steps = ['the start', 'a', 'b'];
  expect(ran).toEqual([...steps.map((step) => `2 from ${step}`), ...steps.map((step) => `3 from ${step}`)]);
  expect(await readSchema(stores.redis)).toEqual({ version: 3, oldestReader: 3 });
});

test('a migration that only adds leaves the data to processes of the older schema', async () => {
  await migrate(stores.redis, [noting(2, 'before', [])]);

  expect(await readSchema(stores.redis)).toEqual({ version: 2, oldestReader: 1 });
});

test('a failed run continues after its last complete step', async () => {
  const ran: string[] = [];
  const migration = noting(2, 'before', ran);
  const failing: Migration = {
    ...migration,
    step: (client, cursor) => (cursor === 'b' ? Promise.reject(new Error('no')) : migration.step(client, cursor)),
  };
  await expect(migrate(stores.redis, [failing])).rejects.toThrow('no');
  expect(await pendingMigrations(stores.redis, [failing])).toMatchObject([{ number: 2, isBegun: true }]);
  expect(await readSchema(stores.redis)).toMatchObject({ version: 1 });

  expect(await migrate(stores.redis, [migration])).toEqual([]);

  expect(ran).toEqual(['2 from the start', '2 from a', '2 from b']);
});

test('two runs at once leave the version and the place of the last step', async () => {
  const migrations = [noting(2, 'before', []), noting(3, 'after', [])];

  const runs = await Promise.all([migrate(stores.redis, migrations), migrate(stores.redis, migrations)]);

  expect(runs).toEqual([[], []]);
  expect(await readSchema(stores.redis)).toEqual({ version: 3, oldestReader: 3 });
});

test('a migration that changes what older processes use waits until none of them runs', async () => {
  const processes = createProcessStore(stores.redis);
  await processes.beat(beatingProcess('old', { role: 'worker' }), NOTHING);
  await processes.beat(beatingProcess('new', { schema: 3 }), NOTHING);
  const migrations = [noting(2, 'before', []), noting(3, 'after', [])];

  const waiting = await migrate(stores.redis, migrations);
  expect(waiting).toMatchObject([{ number: 3, waitsFor: ['worker on host-of-the-tests, version 1.2.3'] }]);
  expect(await readSchema(stores.redis)).toEqual({ version: 2, oldestReader: 1 });

  await processes.leave('old', NOTHING);
  expect(await migrate(stores.redis, migrations)).toEqual([]);
  expect(await readSchema(stores.redis)).toEqual({ version: 3, oldestReader: 3 });
});

test('before the start only what the new processes need is migrated, and older processes can start again', async () => {
  const ran: string[] = [];
  const migrations = [noting(2, 'before', ran), noting(3, 'after', ran)];

  const pending = await migrate(stores.redis, migrations, 'to_start');

  expect(pending).toMatchObject([{ number: 3, isBegun: false, waitsFor: [] }]);
  expect(pending.filter((each) => isInScope(each, 'to_start', migrations))).toEqual([]);
  expect(ran).toEqual(['2 from the start', '2 from a', '2 from b']);
  expect(await readSchema(stores.redis)).toEqual({ version: 2, oldestReader: 1 });
});

test('before the start a migration that waits for older processes counts if a needed one comes after it', async () => {
  const processes = createProcessStore(stores.redis);
  await processes.beat(beatingProcess('old', { role: 'worker' }), NOTHING);
  const migrations = [noting(2, 'after', []), noting(3, 'before', [])];

  const waiting = await migrate(stores.redis, migrations, 'to_start');
  expect(waiting.filter((each) => isInScope(each, 'to_start', migrations))).toMatchObject([
    { number: 2, waitsFor: ['worker on host-of-the-tests, version 1.2.3'] },
    { number: 3 },
  ]);

  await processes.leave('old', NOTHING);
  expect(await migrate(stores.redis, migrations, 'to_start')).toEqual([]);
});

test('an empty Redis needs no migration', async () => {
  await stores.redis.del(KEYS.schemaVersion);

  expect(await migrate(stores.redis, [noting(2, 'before', [])])).toEqual([]);

  expect(await stores.redis.exists(KEYS.schemaVersion, KEYS.migrations)).toBe(0);
});
