import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import { backupManifest, MANIFEST } from '../../src/contracts/ops/backup';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { dataKeysText, useDataKeysFile } from '../support/data-keys';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';

const redis = useRedis();
const keysFile = useDataKeysFile();
let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a backup names the data keys that are forgotten or noted while it is taken', async () => {
  const town = await buildTown(redis.url);
  const app = await town.startInProcess();
  const connection = app.foundation.redis;
  await connection.hset(KEYS.dataKeys, 'old', 'a check value');
  const replaced: Promise<unknown>[] = [];
  const clock = {
    ...systemClock,
    // The time is read when the backup has begun to copy.
    nowMs() {
      const replace = () => connection.multi().hdel(KEYS.dataKeys, 'old').hset(KEYS.dataKeys, 'new', 'another').exec();
      if (replaced.length === 0) replaced.push(replace());
      return systemClock.nowMs();
    },
  };

  await createBackups({ clock, environment: town.environment }).take(join(folder, 'backup'));

  await Promise.all(replaced);
  expect(await connection.hkeys(KEYS.dataKeys)).toEqual(['new']);
  const manifest = backupManifest.parse(JSON.parse(await readFile(join(folder, 'backup', MANIFEST), 'utf8')));
  expect(manifest.data_keys).toEqual(['new', 'old']);
});

test('a backup is not called damaged when the data keys of this machine have its ids and another content', async () => {
  const town = await buildTown(redis.url);
  await keysFile.write(dataKeysText('a'));
  const keys = { DATA_KEYS_FILE: keysFile.path };
  await town.startInProcess(keys);
  const program = { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
  const environment = { ...program, ...town.environment, ...keys };
  const backups = createBackups({ clock: systemClock, environment });
  const backup = join(folder, 'backup');
  await backups.take(backup);
  await keysFile.write(dataKeysText('a'));

  const problem = {
    code: 'data_keys_different',
    message: 'The backup needs data keys that have another content here: a, search.',
    next: 'Name the file of data keys of that time in DATA_KEYS_FILE.',
  };
  for (const verified of [backup, null]) {
    const restoring = backups.restore({ folder: verified, verifies: true, ignoresFaults: false });
    await expect(restoring).rejects.toMatchObject(problem);
  }
});
