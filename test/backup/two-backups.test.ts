import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { prepareSchema } from '../../src/store/ops/schema';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { filesIn } from '../spool/world';
import { portOf } from '../support/server-port';
import { useStores } from '../support/stores';

/** Two backups of one installation into one folder. */

const stores = useStores();
const live = stores.server;

let folder = '';
const ends: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await rm(folder, { recursive: true, force: true });
});

async function prepareInstallation() {
  await prepareSchema(stores.redis);
  const [dataDir, backup] = [join(folder, 'data'), join(folder, 'backup')];
  const marker = createSpoolMarker(stores.redis);
  const spool = createSpool({ dataDir, marker, keepMs: 1000, clock: systemClock, log: silentLog });
  expect(await spool.state()).toBe('shared');
  const take = (url: string) => {
    const environment = { PATH: process.env['PATH'], REDIS_URL: url, DATA_DIR: dataDir };
    return createBackups({ clock: systemClock, environment }).take(backup);
  };
  return { spool, backup, take };
}

/** An address of Redis that passes nothing on until `release`. */
async function heldRedis() {
  const held: (() => void)[] = [];
  const line = createServer((client) => {
    const redis = connect(Number(new URL(live.url).port), '127.0.0.1');
    ends.push(() => redis.destroy());
    client.on('error', () => redis.destroy()).on('close', () => redis.destroy());
    redis.on('error', () => client.destroy()).pipe(client);
    held.push(() => client.pipe(redis));
    line.emit('held');
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  ends.push(() => line.close());
  const url = new URL(live.url);
  url.port = String(portOf(line));
  const isHeld = once(line, 'held');
  const release = () => {
    line.on('held', () => held.splice(0).forEach((pass) => pass()));
    line.emit('held');
  };
  return { url: url.href, isHeld, release };
}

test('a backup that is refused because another one runs leaves the files of the other one', async () => {
  const { spool, backup, take } = await prepareInstallation();
  const redis = await heldRedis();
  const refused = take(redis.url).catch((error: unknown) => error);
  await redis.isHeld;
  const end = await spool.beginBackup();
  await mkdir(backup);
  await writeFile(join(backup, 'of-the-other'), '');
  redis.release();

  expect(await refused).toMatchObject({ code: 'backup_running' });
  expect(await filesIn(backup)).toEqual(['of-the-other']);
  await end();
});

test('a backup into a folder that another one has filled meanwhile is refused and changes nothing', async () => {
  const { backup, take } = await prepareInstallation();
  const redis = await heldRedis();
  const refused = take(redis.url).catch((error: unknown) => error);
  await redis.isHeld;
  await take(live.url);
  const files = await filesIn(backup);
  redis.release();

  expect(await refused).toMatchObject({ code: 'folder_not_empty' });
  expect(files).toContain('manifest.json');
  expect(await filesIn(backup)).toEqual(files);
});
