import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { createBackupRecordStore } from '../../src/store/ops/backup-record';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { prepareSchema } from '../../src/store/ops/schema';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { useOwnRedis, useRedis } from '../support/redis';

const [first, second] = [useRedis(), useOwnRedis()];
let folder = '';
const ends: (() => void)[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(async () => {
  for (const end of ends.splice(0)) end();
  await rm(folder, { recursive: true, force: true });
});

/** An installation without processes. */
async function prepareInstallation(name: string, url: string) {
  const redis = connectFailFast(url, { log: silentLog });
  ends.push(() => redis.disconnect());
  await whenReady(redis, 30_000);
  await prepareSchema(redis);
  const marker = createSpoolMarker(redis);
  const dataDir = join(folder, name);
  const spool = createSpool({ dataDir, marker, keepMs: 1000, clock: systemClock, log: silentLog });
  expect(await spool.state()).toBe('shared');
  const program = { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
  const backups = createBackups({
    clock: systemClock,
    environment: { ...program, REDIS_URL: url, DATA_DIR: dataDir },
  });
  return {
    record: createBackupRecordStore(redis),
    take: (backup: string) => backups.take(join(folder, backup)),
    verify: async (backup: string) => {
      const { kind, note } = await backups.restore({
        folder: join(folder, backup),
        verifies: true,
        ignoresFaults: false,
      });
      return [kind, note];
    },
  };
}

test('a verified backup of another installation is not noted, also when this one has begun a later backup', async () => {
  const [own, other] = await Promise.all([
    prepareInstallation('own', first.url),
    prepareInstallation('other', second.url),
  ]);
  await other.take('of-the-other');
  await own.take('own-earlier');
  await own.take('own-later');

  expect(await own.verify('of-the-other')).toEqual(['verified', 'not_begun_here']);
  expect(await own.record.read()).toMatchObject({ takenAtMs: null, verifiedAtMs: null });

  expect(await own.verify('own-later')).toEqual(['verified', 'noted']);
  expect(await own.verify('own-earlier')).toEqual(['verified', 'later_verified']);
  const { begunAtMs, takenAtMs } = await own.record.read();
  expect(takenAtMs).toBe(begunAtMs);
});

test('the backup of a version that did not write exact times is verified and not noted', async () => {
  const { record } = await prepareInstallation('own', first.url);
  const begunAtMs = await record.begin();
  const contained = { ...(await record.read()), begunAtUs: [] };

  expect(await record.verified(begunAtMs, contained)).toBe('not_begun_here');
  expect((await record.read()).takenAtMs).toBeNull();
});

test('the times of the last 100 backups are kept', async () => {
  const { record } = await prepareInstallation('own', first.url);
  const begunAtMs: number[] = [];
  for (let backup = 1; backup <= 101; backup += 1) begunAtMs.push(await record.begin());

  const { begunAtUs } = await record.read();
  expect(begunAtUs.map((us) => Math.floor(us / 1000))).toEqual(begunAtMs.slice(1));
});
