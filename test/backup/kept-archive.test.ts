import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { archiveFiles, archiveFolder } from '../../src/archive/files';
import { createBackups } from '../../src/backup';
import type { RestoreResult } from '../../src/cli';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { prepareSchema } from '../../src/store/ops/schema';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { useOwnRedis } from '../support/redis';
import { createReleasedTow, openRetention } from '../support/retention';
import { useStores } from '../support/stores';

/** Restores onto a DATA_DIR that is kept, whose archive went on after the backup. */

const stores = useStores();
const live = stores.server;
const empty = useOwnRedis();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** An installation with five entries in its audit. */
async function prepareInstallation() {
  await prepareSchema(stores.redis);
  const dataDir = join(folder, 'data');
  const marker = createSpoolMarker(stores.redis);
  const spool = createSpool({ dataDir, marker, keepMs: 1000, clock: systemClock, log: silentLog });
  expect(await spool.state()).toBe('shared');
  await createReleasedTow(stores, 'T1');

  const backupsOf = (url: string) => {
    const program = { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
    return createBackups({ clock: systemClock, environment: { ...program, REDIS_URL: url, DATA_DIR: dataDir } });
  };
  const backup = join(folder, 'backup');
  return {
    dataDir,
    take: () => backupsOf(live.url).take(backup),
    archiveAll: async (epoch: number) => {
      const retention = openRetention(stores, dataDir, epoch);
      await retention.sweepAll();
      await retention.close();
    },
    verify: () => backupsOf(live.url).restore({ folder: backup, verifies: true, ignoresFaults: false }),
    restore: () => backupsOf(empty.url).restore({ folder: backup, verifies: false, ignoresFaults: false }),
    verifyRestored: () => backupsOf(empty.url).restore({ folder: null, verifies: true, ignoresFaults: false }),
  };
}

const faultsIn = ({ findings }: RestoreResult) => findings.filter(({ state }) => state === 'fault');

test('a restore onto an archive with later audit entries changes nothing, and names the files to move aside', async () => {
  const { dataDir, take, archiveAll, verify, restore, verifyRestored } = await prepareInstallation();
  await archiveAll(1);
  await take();
  await createReleasedTow(stores, 'T2');
  await archiveAll(2);
  const [, later] = await archiveFiles(dataDir);

  const refused = await restore();

  expect(refused.kind).toBe('faulty');
  expect(faultsIn(refused)).toMatchObject([{ check: 'data_dir', code: 'audit_later' }]);
  expect(faultsIn(refused)[0]?.fix).toBe(
    `Move them out of ${archiveFolder(dataDir)}, or set DATA_DIR to an empty folder: ${later?.name}`,
  );
  expect(await empty.ask('DBSIZE')).toBe(0);
  // The installation that runs on has later entries than each of its backups.
  expect(await verify()).toMatchObject({ kind: 'verified' });

  await mkdir(join(folder, 'aside'));
  await rename(later?.path ?? '', join(folder, 'aside', 'later'));
  expect((await restore()).kind).toBe('restored');
  expect(await verifyRestored()).toMatchObject({ kind: 'verified' });
});

test('a restore keeps an archive to which only entries of the backup were moved later', async () => {
  const { take, archiveAll, restore, verifyRestored } = await prepareInstallation();
  await take();
  await archiveAll(1);

  expect((await restore()).kind).toBe('restored');
  expect(await verifyRestored()).toMatchObject({ kind: 'verified' });
});
