import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KEYS } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { runProgram } from './command';
import { DEAD_ADDRESS } from './fake-service';

const redis = useRedis();
const migrate = (...words: readonly string[]) =>
  runProgram(['migrate', '--json', ...words], { environment: { REDIS_URL: redis.url } });

test('towhook migrate has nothing to do on the data of its own schema, and changes nothing', async () => {
  await redis.ask('SET', KEYS.schemaVersion, '1');

  const { exitCode, json } = await migrate();

  expect([exitCode, json()]).toEqual([0, { known_schema: 1, stored_schema: 1, pending: [] }]);
  expect(await redis.ask('KEYS', '*')).toEqual([KEYS.schemaVersion]);
});

test('towhook migrate needs no other variable than the address of Redis, in production too', async () => {
  const environment = { REDIS_URL: redis.url, NODE_ENV: 'production' };

  const { exitCode, out } = await runProgram(['migrate'], { environment });

  expect([exitCode, out]).toEqual([0, expect.stringContaining('Redis holds no data.')]);
});

test('towhook migrate refuses data of a later schema with exit code 1', async () => {
  await redis.ask('SET', KEYS.schemaVersion, '7');

  const { exitCode, json } = await migrate('--check');

  expect(exitCode).toBe(1);
  expect(json()).toMatchObject({ problem: expect.stringContaining('data of schema 7') as unknown });
});

test('towhook migrate ends with exit code 3 when Redis does not answer', async () => {
  const REDIS_URL = DEAD_ADDRESS.replace('http:', 'redis:');

  const { exitCode, problems } = await runProgram(['migrate'], { environment: { REDIS_URL } });

  expect([exitCode, problems]).toEqual([3, expect.stringContaining('Redis cannot be reached')]);
});

test.each(['99', 'abc'])('towhook migrate refuses the database %j with exit code 2', async (database) => {
  const environment = { REDIS_URL: `${redis.url}/${database}` };

  const { exitCode, problems } = await runProgram(['migrate', '--check'], { environment });

  expect([exitCode, problems]).toEqual([2, expect.stringMatching(/The environment is invalid\.\n +REDIS_URL /)]);
});

test('towhook migrate ends with exit code 3 in a folder without an embedded Redis, and creates nothing there', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'towhook-migrate-'));
  const server = process.env['REDIS_SERVER_BIN'];
  const environment = server === undefined ? {} : { REDIS_SERVER_BIN: server };

  const runs = [];
  for (const words of [['migrate'], ['migrate', '--check']]) {
    // oxlint-disable-next-line eslint/no-await-in-loop
    runs.push(await runProgram(words, { environment, folder }));
  }
  const created = await readdir(folder);
  await rm(folder, { recursive: true, force: true });

  const nothing = expect.stringContaining('DATA_DIR has no embedded Redis and REDIS_URL is not set') as unknown;
  expect(runs.map(({ exitCode, problems }) => [exitCode, problems])).toEqual([
    [3, nothing],
    [3, nothing],
  ]);
  expect(created).toEqual([]);
});
