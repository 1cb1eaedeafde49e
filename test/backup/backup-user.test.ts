import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Redis } from 'ioredis';
import { createBackups } from '../../src/backup';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { prepareSchema } from '../../src/store/ops/schema';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { startTestRedis, type TestRedis } from '../support/redis-server';
import { PROJECT } from '../support/project';

const ACL_FILE = join(PROJECT, 'deploy/redis/backup.acl');
const PASSWORD = 'password-of-the-backups';

let folder: string;
let redis: TestRedis;
let allowed: readonly string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-user-'));
  const rule = (await readFile(ACL_FILE, 'utf8')).trim();
  allowed = [...rule.matchAll(/ \+(\S+)/g)].map(([, command = '']) => command);
  const aclfile = join(folder, 'users.acl');
  await writeFile(aclfile, `${rule} >${PASSWORD}\nuser default on nopass ~* &* +@all\n`);
  redis = await startTestRedis({ aclfile });
});
afterEach(async () => {
  await redis.stop();
  await rm(folder, { recursive: true, force: true });
});

const urlOf = (user = '') => `redis://${user}127.0.0.1:${redis.port}/1`;
const asBackup = () => urlOf(`towhook-backup:${PASSWORD}@`);

async function connected(url: string, work: (connection: Redis) => Promise<void>): Promise<void> {
  const connection = connectFailFast(url, { log: silentLog });
  try {
    await whenReady(connection, 30_000);
    await work(connection);
  } finally {
    connection.disconnect();
  }
}

/** Data in Redis and a disk that knows it, without a process that uses them. */
async function prepareInstallation(dataDir: string): Promise<void> {
  await connected(urlOf(), async (connection) => {
    await prepareSchema(connection);
    const marker = createSpoolMarker(connection);
    const spool = createSpool({ dataDir, marker, keepMs: 1000, clock: systemClock, log: silentLog });
    expect(await spool.state()).toBe('shared');
  });
}

const textOf = async (...command: string[]) => String(await redis.ask(...command));

test('the user of deploy/redis/backup.acl takes and verifies a backup with exactly its commands, and is denied nothing', async () => {
  const dataDir = join(folder, 'data');
  await prepareInstallation(dataDir);
  await redis.ask('CONFIG', 'RESETSTAT');
  const backups = createBackups({
    clock: systemClock,
    environment: {
      PATH: process.env['PATH'],
      REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'],
      REDIS_URL: asBackup(),
      DATA_DIR: dataDir,
    },
  });
  const backup = join(folder, 'backup');
  await backups.take(backup);
  expect(await backups.restore({ folder: backup, verifies: true, ignoresFaults: false })).toMatchObject({
    kind: 'verified',
    note: 'noted',
  });

  const called = [...(await textOf('INFO', 'commandstats')).matchAll(/^cmdstat_([^:]+):/gm)].map(
    ([, name = '']) => name,
  );
  // Every user may sign in; the last is a call of this test.
  const others = ['auth', 'hello', 'config|resetstat'];
  expect(called.filter((name) => !others.includes(name)).toSorted()).toEqual(allowed);
  expect(await redis.ask('ACL', 'LOG')).toEqual([]);
});

test('the user of deploy/redis/backup.acl has no password, and can change nothing but what is known of backups', async () => {
  expect(await textOf('ACL', 'GETUSER', 'towhook-backup')).not.toContain('nopass');
  await connected(asBackup(), async (connection) => {
    await connection.hset('{towhook-main}:backup', 'begun_at', 1);
    for (const [command = '', ...words] of [
      ['hset', '{towhook-main}:tow:T-1', 'state', 'released'],
      ['set', '{towhook-main}:schema-version', '9'],
      ['flushall'],
      ['keys', '*'],
      ['config', 'get', 'requirepass'],
    ]) {
      await expect(connection.call(command, words)).rejects.toThrow('NOPERM');
    }
  });
});
