import { appendFile, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import type { RestoreResult } from '../../src/cli';
import { MANIFEST } from '../../src/contracts/ops/backup';
import { systemClock } from '../../src/platform/clock';
import { DataKeys } from '../../src/platform/data-keys';
import { createBackupRecordStore } from '../../src/store/ops/backup-record';
import { idsIn, writeBatches } from '../archive/folder';
import { createPatrol, FORM, picture } from '../e2e/patrol';
import { callsOf, requestTow, requestTows } from '../e2e/simulator-control';
import { filesIn } from '../spool/world';
import { dataKeysText, useDataKeysFile } from '../support/data-keys';
import { eventually } from '../support/eventually';
import { useOwnRedis, useRedis } from '../support/redis';
import { buildTown } from '../support/town';

jest.setTimeout(180_000);
const [live, empty] = [useRedis(), useOwnRedis()];
const keysFile = useDataKeysFile();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const REDIS_PROGRAM = { PATH: process.env['PATH'], REDIS_SERVER_BIN: process.env['REDIS_SERVER_BIN'] };
const VERIFY = { verifies: true, ignoresFaults: false };
const RESTORE = { verifies: false, ignoresFaults: false };

/** A running installation with a backup: a report and a violation with two images waited when it was taken. */
async function backedUp(also: Readonly<Record<string, string>> = {}) {
  const town = await buildTown(live.url);
  const app = await town.startInProcess(also);
  const patrol = createPatrol(app.consoleUrl);
  const ref = await requestTow(town);
  await eventually(() => patrol.tow(ref));
  for (const queue of ['reports', 'violations']) expect((await patrol.post(`/queues/${queue}/pause`)).status).toBe(202);
  const place = { plate_number: 'ABC 1234', towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.6 };
  expect((await patrol.post(`/tows/${ref}/started`, place)).status).toBe(202);
  const { id } = await patrol.report(FORM, [picture(3000), picture(70_000)]);

  const environment = { ...REDIS_PROGRAM, ...town.environment, ...also };
  const { dataDir } = app.foundation.config;
  await writeBatches(dataDir, [['archived-1'], ['archived-2']], { keys: app.foundation.dataKeys });
  const backups = createBackups({ clock: systemClock, environment });
  const backup = join(folder, 'backup');
  const load = Promise.all(Array.from({ length: 4 }, () => requestTows(town, { count: 10 })));
  const taken = await backups.take(backup);
  await load;
  const codesOf = async (result: Promise<RestoreResult>) => {
    const { kind, findings } = await result;
    return [kind, ...findings.filter(({ state }) => state !== 'fine').map(({ check, code }) => `${check} ${code}`)];
  };
  return { town, app, patrol, ref, id, environment, backups, backup, taken, codesOf };
}

test('an encrypted backup of a running installation is restored into an empty Redis, and sends nothing before a person resumes it', async () => {
  await keysFile.write(dataKeysText('a'));
  const keys = { DATA_KEYS_FILE: keysFile.path };
  const { town, app, patrol, ref, id, environment, backups, backup, taken, codesOf } = await backedUp(keys);
  const [image = ''] = await filesIn(join(backup, 'data', 'spool', 'violations'));
  expect((await readFile(join(backup, 'data', 'spool', 'violations', image))).toString('latin1')).toMatch(/^aes:1:a:/);
  const withoutKeys = createBackups({ clock: systemClock, environment: { ...environment, DATA_KEYS_FILE: undefined } });
  await expect(withoutKeys.restore({ folder: backup, ...VERIFY })).rejects.toMatchObject({
    code: 'data_keys_missing',
    message: 'The backup needs data keys that are not here: a, search.',
  });
  for (const queue of ['reports', 'violations']) await patrol.post(`/queues/${queue}/resume`);
  await eventually(async () => expect((await patrol.violation(id)).state).toBe('accepted'));
  await eventually(async () => expect((await patrol.tow(ref)).reports).toMatchObject([{ state: 'accepted' }]));

  expect(await codesOf(backups.restore({ folder: backup, ...VERIFY }))).toEqual(['verified']);
  const noted = await createBackupRecordStore(app.foundation.redis).read();
  expect(noted.takenAtMs).toBe(Date.parse(taken.takenAt));
  expect(noted.verifiedAtMs).toBeGreaterThanOrEqual(Date.parse(taken.takenAt));
  await expect(backups.restore({ folder: backup, ...RESTORE })).rejects.toMatchObject({ code: 'redis_not_empty' });

  await app.stop();
  const removed = new DataKeys('', dataKeysText('removed'));
  await writeBatches(app.foundation.config.dataDir, [['archived-3']], { epoch: 2, keys: removed });
  expect(await codesOf(backups.restore({ folder: null, ...VERIFY }))).toEqual([
    'verified',
    'archive data_keys_missing',
  ]);
  const elsewhere = { ...keys, REDIS_URL: empty.url, DATA_DIR: join(folder, 'restored') };
  const restoring = createBackups({ clock: systemClock, environment: { ...environment, ...elsewhere } });
  expect(await codesOf(restoring.restore({ folder: backup, ...RESTORE }))).toEqual(['restored']);
  const archived = { keys: app.foundation.dataKeys, to: '2026-03-10' };
  expect(await idsIn(elsewhere.DATA_DIR, archived)).toEqual(['archived-1', 'archived-2']);

  const again = createPatrol((await town.startInProcess(elsewhere)).consoleUrl);
  expect(await again.violation(id)).toMatchObject({ state: 'pending', attempts: 0 });
  expect((await again.tow(ref)).reports).toMatchObject([{ kind: 'started', state: 'pending' }]);
  expect(await callsOf(town, 'violation')).toHaveLength(1);
  for (const queue of ['reports', 'violations']) expect((await again.post(`/queues/${queue}/resume`)).status).toBe(202);
  await eventually(async () => expect((await again.violation(id)).state).toBe('accepted'));
  await eventually(async () => expect((await again.tow(ref)).reports).toMatchObject([{ state: 'accepted' }]));
  const images = (await callsOf(town, 'violation')).map(({ body }) => body?.['images']);
  expect(images).toHaveLength(2);
  expect(images[1]).toEqual(images[0]);
});

test('verification finds a changed image and a snapshot that is older than stated, and refuses an unfinished backup', async () => {
  const { backups, backup, codesOf } = await backedUp();
  const images = join(backup, 'data', 'spool', 'violations');
  const files = await filesIn(images);
  expect(files).toHaveLength(2);
  for (const path of await filesIn(backup)) expect((await stat(join(backup, path))).mode & 0o777).toBe(0o600);

  await appendFile(join(images, files[0] ?? ''), 'x');
  const manifest = join(backup, MANIFEST);
  const stated = await readFile(manifest, 'utf8');
  await writeFile(manifest, stated.replace(/"taken_at": "\d{4}/, '"taken_at": "2999'));
  expect(await codesOf(backups.restore({ folder: backup, ...VERIFY }))).toEqual([
    'faulty',
    'files changed',
    'time older',
    'images missing',
  ]);
  await rm(manifest);
  await expect(backups.restore({ folder: backup, ...VERIFY })).rejects.toMatchObject({ code: 'no_backup' });
  await expect(backups.take(backup)).rejects.toMatchObject({ code: 'folder_not_empty' });
});
