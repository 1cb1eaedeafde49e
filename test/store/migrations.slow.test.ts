import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { deliveryKey, KEYS } from '../../src/store/keys';
import { readSchema } from '../../src/store/ops/schema';
import { repliesOf } from '../../src/store/redis/batch-reads';
import { compiledFile } from '../support/compiled';
import { useRedis } from '../support/redis';
import { openStores } from '../support/stores';

const redis = useRedis();

const IDS = Array.from({ length: 10_000 }, (_, at) => `d${at}`);
/** A worker of the tests has no room for the commands and replies of all records at once. */
const SLICES = Array.from({ length: 10 }, (_, at) => IDS.slice(at * 1000, (at + 1) * 1000));

function startMigration(also: Readonly<Record<string, string>> = {}) {
  const environment = { PATH: process.env['PATH'], REDIS_URL: redis.url, ...also };
  return spawn(process.execPath, [compiledFile('test/store/renaming-migration.ts')], { env: environment });
}

test('a migration of 10,000 records that is killed is resumed by two runs, while records change', async () => {
  const stores = await openStores(redis.url);
  for (const ids of SLICES) {
    const seeding = stores.redis.pipeline();
    for (const id of ids) {
      seeding.hset(deliveryKey(id), { v: '1.seed', id, state: 'waiting', old: `value of ${id}`, copies: 0 });
      seeding.zadd(KEYS.indexDeliveries, IDS.indexOf(id), id);
    }
    await repliesOf(seeding);
  }
  const countNew = async () => {
    let count = 0;
    for (const ids of SLICES) {
      const reading = stores.redis.pipeline();
      for (const id of ids) reading.hmget(deliveryKey(id), 'new', 'old');
      const expected = ids.map((id) => [`value of ${id}`, null]);
      const found = await repliesOf(reading);
      count += found.filter((fields, at) => JSON.stringify(fields) === JSON.stringify(expected[at])).length;
    }
    return count;
  };

  await once(startMigration({ DIES_IN_STEP: '10' }), 'exit');
  const migratedByKilled = await countNew();

  // The version of a record changes as when a worker writes it, so that the migration must read it again.
  const migrated = new AbortController();
  const worker = (async () => {
    for (let at = 0; !migrated.signal.aborted; at = (at + 7) % IDS.length) {
      await stores.redis.hset(deliveryKey(IDS[at] ?? ''), 'v', `${at + 2}.work`, 'worked', '1');
    }
  })();
  const runs = [startMigration(), startMigration()];
  const codes = await Promise.all(runs.map(async (run) => (await once(run, 'exit'))[0] as unknown));
  migrated.abort();
  await worker;

  expect(codes).toEqual([0, 0]);
  expect(migratedByKilled).toBe(2000);
  expect(await countNew()).toBe(IDS.length);
  expect(await readSchema(stores.redis)).toBe(2);
  stores.close();
});
