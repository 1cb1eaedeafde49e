import promises, { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { archiveFolder } from '../../src/archive/files';
import { verifyArchive } from '../../src/archive/read';
import { openFoundation, type Foundation } from '../../src/main/foundation';
import { startRetention } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config/config';
import { silentLog, type Log } from '../../src/platform/log/log';
import { isSettledWithin } from '../../src/platform/timers';
import { KEYS, lockKey } from '../../src/store/keys';
import { idsIn, useDataDir } from '../archive/folder';
import { dataKeysText, linesOf, useDataKeysFile } from '../support/data-keys';
import { eventually } from '../support/eventually';
import { awayFromMidnight } from '../support/midnight';
import { createCanceledTow } from '../support/retention';
import { useStores } from '../support/stores';

jest.setTimeout(240_000);
const stores = useStores();
const redis = stores.server;
const dataDir = useDataDir();
const keysFile = useDataKeysFile();
const running: Foundation[] = [];
beforeEach(awayFromMidnight);
afterEach(async () => {
  for (const foundation of running.splice(0)) await foundation.resources.closeAll();
});

/** Opens what a process consists of; it archives finished records at once and checks for them every 20 ms. */
async function startProcess(
  options: { dataDir?: string; log?: Log; environment?: Record<string, string> } = {},
): Promise<Foundation> {
  const config = loadConfig({
    REDIS_URL: redis.url,
    DATA_DIR: options.dataDir ?? dataDir.path,
    KEEP_DELIVERIES_HOURS: '0',
    KEEP_TOWS_HOURS: '0',
    KEEP_AUDIT_HOURS: '0',
    ...options.environment,
  });
  const foundation = await openFoundation({ config, log: options.log ?? silentLog });
  running.push(foundation);
  startRetention(foundation, 20);
  return foundation;
}

const isArchived = (ref: string, folder = dataDir.path) =>
  eventually(async () => expect(await idsIn(folder, { type: 'tow' })).toContain(ref));
const isDeleted = (ref: string) => eventually(async () => expect(await stores.tows.read(ref)).toBeNull());
const files = () => readdir(archiveFolder(dataDir.path));

test('a running process moves finished tows to the archive and counts them in the metrics', async () => {
  for (const ref of ['T1', 'T2']) await createCanceledTow(stores, ref);
  const { metrics } = await startProcess();

  for (const ref of ['T1', 'T2']) await isArchived(ref).then(() => isDeleted(ref));
  await createCanceledTow(stores, 'T3');
  await isDeleted('T3');

  await eventually(async () =>
    expect((await metrics.text()).text).toContain('towhook_archived_total{type="tow",installation="main"} 3'),
  );
  expect(await files()).toHaveLength(1);
});

test('a process whose archive hangs closes everything else when it stops', async () => {
  const opening = jest.spyOn(promises, 'open').mockReturnValueOnce(new Promise<never>(() => {}));
  await createCanceledTow(stores, 'T1');
  const { resources } = await startProcess();
  await eventually(() => expect(opening).toHaveBeenCalledWith(expect.stringContaining('archive'), 'ax', 0o600));
  opening.mockRestore();
  running.splice(0);

  expect(await isSettledWithin(30_000, resources.closeAll())).toBe(true);
});

test('one of several processes archives at a time, and when it stops another one continues in its own file', async () => {
  const first = await startProcess();
  await createCanceledTow(stores, 'T1');
  await isDeleted('T1');
  await startProcess();
  await createCanceledTow(stores, 'T2');
  await isDeleted('T2');
  expect(await files()).toHaveLength(1);

  running.splice(running.indexOf(first), 1);
  await first.resources.closeAll();
  await createCanceledTow(stores, 'T3');
  await isDeleted('T3');

  expect(await files()).toHaveLength(2);
  expect(await idsIn(dataDir.path, { type: 'tow' })).toEqual(['T1', 'T2', 'T3']);
});

test('a process that lost the archive lock to another process continues in a new file once the lock expires', async () => {
  await startProcess();
  await createCanceledTow(stores, 'T1');
  await isDeleted('T1');

  await stores.redis.set(lockKey('retention'), 'another-process', 'PX', 100);
  await createCanceledTow(stores, 'T2');
  await isDeleted('T2');

  expect(await files()).toHaveLength(2);
  expect(await verifyArchive(dataDir.path)).toMatchObject({ torn: [], broken: [], records: { tow: 2 } });
});

test('a process whose data key is replaced continues in a new file, so that the earlier one can be re-encrypted', async () => {
  const keys = dataKeysText('a', 'b');
  await keysFile.write(linesOf(keys, 'a'));
  const { dataKeys } = await startProcess({ environment: { DATA_KEYS_FILE: keysFile.path } });
  await createCanceledTow(stores, 'T1');
  await isDeleted('T1');

  await keysFile.write(linesOf(keys, 'b', 'a'));
  await dataKeys?.reload();
  await createCanceledTow(stores, 'T2');
  await isDeleted('T2');

  expect(await files()).toHaveLength(2);
  const [before, after] = await files();
  const keysIn = async (name = '') => gunzipSync(await readFile(join(archiveFolder(dataDir.path), name))).toString();
  expect(await keysIn(before)).toContain('aes:1:a:');
  expect(await keysIn(after)).not.toContain('aes:1:a:');
  expect(await idsIn(dataDir.path, { type: 'tow', keys: dataKeys })).toEqual(['T1', 'T2']);
});

test('an unwritable DATA_DIR keeps finished tows in Redis and causes one log line and one task until it is writable', async () => {
  const logged: string[] = [];
  const log = { ...silentLog, error: (event: string) => logged.push(event) };
  const blocked = join(dataDir.path, 'a-file');
  await writeFile(blocked, '');
  await createCanceledTow(stores, 'T1');
  await startProcess({ dataDir: blocked, log });
  const openTasks = () => stores.redis.hkeys(KEYS.tasks);
  await eventually(async () => expect(await openTasks()).toEqual(['archive_failing']));
  // Each failed run takes a new epoch of the lock.
  await eventually(async () =>
    expect(Number(await stores.redis.get('{towhook-main}:lock-epoch:retention'))).toBeGreaterThan(3),
  );
  expect((await stores.read('T1')).tow.state).toBe('canceled');
  expect(await stores.deliveries.read('request-T1')).not.toBeNull();

  await rm(blocked);
  await mkdir(blocked);

  await isDeleted('T1');
  await isArchived('T1', blocked);
  await eventually(async () => expect(await openTasks()).toEqual([]));
  expect(logged).toEqual(['archive.failed']);
});
