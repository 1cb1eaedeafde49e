import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import { backupFailure } from '../../src/backup/failure';
import { systemClock } from '../../src/platform/clock';
import { prepareSchema } from '../../src/store/ops/schema';
import { run } from '../cli/command';
import { DEAD_ADDRESS } from '../cli/fake-service';
import { useOwnRedis } from '../support/redis';
import { useStores } from '../support/stores';

const stores = useStores();
const live = stores.server;
const empty = useOwnRedis();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Runs `towhook backup` or `towhook restore` in this process. */
function towhook(words: readonly string[], redisUrl: string) {
  const environment = {
    PATH: process.env['PATH'],
    REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'],
    REDIS_URL: redisUrl,
    DATA_DIR: join(folder, 'data'),
  };
  const backups = createBackups({ clock: systemClock, environment });
  return run(words, { url: 'http://127.0.0.1', apiKey: null, backups });
}

test('towhook backup into a file exits with 1, and names the file and what to do', async () => {
  await prepareSchema(stores.redis);
  const file = join(folder, 'file');
  await writeFile(file, '');
  const { exitCode, problems } = await towhook(['backup', file], live.url);
  expect([exitCode, problems]).toEqual([
    1,
    `towhook: ${file} cannot be used: ENOTDIR: not a directory.\n` +
      'Name another folder: a part of this path is a file, or cannot be a folder.',
  ]);
});

test('towhook restore into a Redis without memory exits with 1, and names the reply and what to do', async () => {
  await prepareSchema(stores.redis);
  await stores.request('T-1');
  const backup = join(folder, 'backup');
  expect((await towhook(['backup', backup], live.url)).exitCode).toBe(0);
  await empty.ask('CONFIG', 'SET', 'maxmemory', '1');
  try {
    const { exitCode, problems } = await towhook(['restore', backup], empty.url);
    expect(exitCode).toBe(1);
    expect(problems).toMatch(
      /^towhook: Redis refused a command: OOM .*\nNothing was restored\. Give Redis more memory/,
    );
  } finally {
    await empty.ask('CONFIG', 'SET', 'maxmemory', '0');
  }
});

/** The address of the second Redis for a user who may call these commands only. */
async function urlForUserOf(...commands: string[]) {
  await empty.ask('ACL', 'SETUSER', 'restricted', 'reset', 'on', '>password', '~*', ...commands);
  return empty.url.replace('://', '://restricted:password@');
}

test('towhook restore that is refused before it writes reports that nothing was restored, and does not ask to empty Redis', async () => {
  await prepareSchema(stores.redis);
  const backup = join(folder, 'backup');
  expect((await towhook(['backup', backup], live.url)).exitCode).toBe(0);
  const withoutScan = await urlForUserOf('+@all', '-scan');
  const { exitCode, problems } = await towhook(['restore', backup], withoutScan);
  expect(exitCode).toBe(1);
  expect(problems).toMatch(
    /^towhook: Redis refused a command: NOPERM .*scan.*\nNothing was restored\. .*without limits/,
  );
  expect(problems).not.toContain('FLUSHDB');
});

test('towhook restore that is refused while it writes asks to empty the Redis that holds a part', async () => {
  await prepareSchema(stores.redis);
  await stores.request('T-1');
  const backup = join(folder, 'backup');
  expect((await towhook(['backup', backup], live.url)).exitCode).toBe(0);
  const withoutRestore = await urlForUserOf('+@all', '-restore');
  const { exitCode, problems } = await towhook(['restore', backup], withoutRestore);
  expect(exitCode).toBe(1);
  expect(problems).toMatch(/^towhook: Redis refused a command: NOPERM .*restore.*\n.*FLUSHDB.* without limits/);
});

test('towhook backup and restore --verify exit with 3 when Redis cannot be reached', async () => {
  const nowhere = DEAD_ADDRESS.replace('http', 'redis');
  for (const words of [
    ['backup', join(folder, 'backup')],
    ['restore', '--verify'],
  ]) {
    const { exitCode, problems } = await towhook(words, nowhere);
    expect([exitCode, problems]).toEqual([3, expect.stringContaining('Redis cannot be reached (REDIS_URL)')]);
  }
});

const systemError = (code: string, why: string, more: object = {}) =>
  Object.assign(new Error(`${code}: ${why}`), { code, ...more });

test.each([
  ['a full disk of a backup', 'backup', systemError('ENOSPC', 'no space left, write'), '/b cannot', 'Make room'],
  ['a full disk of a restore', 'restore', systemError('ENOSPC', 'no space left, write'), 'DATA_DIR (/d)', 'Make room'],
  ['an image', 'backup', systemError('EACCES', 'denied', { path: '/d/spool/U1' }), 'DATA_DIR (/d)', 'user who may'],
  ['the folder', 'restore', systemError('EIO', 'error', { path: '/b/manifest' }), '/b cannot', 'Check its disk'],
] as const)('explains the error of %s without the path of a record', (_what, kind, error, place, next) => {
  const problem = backupFailure(error, { kind, folder: '/b', dataDir: '/d' });
  expect(problem).toMatchObject({
    code: 'disk_failed',
    message: expect.stringContaining(place) as unknown,
    next: expect.stringContaining(next) as unknown,
  });
  expect(String(problem)).not.toMatch(/U1|manifest/);
});

test('keeps an error that no disk and no Redis caused', () => {
  const error = new TypeError('a fault of the program');
  expect(backupFailure(error, { kind: 'backup', folder: '/b', dataDir: '/d' })).toBe(error);
});
