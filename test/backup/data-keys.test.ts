import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import { backupManifest, MANIFEST } from '../../src/contracts/backup';
import { systemClock } from '../../src/platform/clock';
import { KEYS } from '../../src/store/keys';
import { useRedis } from '../support/redis';
import { buildTown } from '../support/town';

const redis = useRedis();
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
