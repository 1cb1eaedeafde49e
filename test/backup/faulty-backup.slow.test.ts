import { appendFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createBackups } from '../../src/backup';
import type { RestoreResult } from '../../src/cli';
import { SNAPSHOT } from '../../src/contracts/ops/backup';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { KEYS, towKey, violationKey } from '../../src/store/keys';
import { prepareSchema } from '../../src/store/ops/schema';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { idsIn, writeBatches } from '../archive/folder';
import { replaceImages } from '../../src/workflow/outbox/decide';
import type { Spool } from '../../src/workflow/ops/spool-port';
import { writeProgram } from '../embedded/programs';
import { filesIn, pieces } from '../spool/world';
import { PNG } from '../support/images';
import { eventually } from '../support/eventually';
import { useOwnRedis, type TestRedis } from '../support/redis';
import { openStores, TESTER, useStores, type Stores } from '../support/stores';
import {
  mustClaimViolation,
  openOutbox,
  readViolation,
  report,
  reportViolations,
  violationOf,
} from '../support/violations';

const stores = useStores();
const live = stores.server;
const empty = useOwnRedis();

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const VERIFY = { verifies: true, ignoresFaults: false };
const DESPITE_FAULTS = { verifies: false, ignoresFaults: true };

/** An installation without processes: the tow T-1, the violation U1 with an image, and an archived delivery. */
async function prepareInstallation() {
  await prepareSchema(stores.redis);
  const marker = createSpoolMarker(stores.redis);
  const dataDir = join(folder, 'data');
  const spool = createSpool({ dataDir, marker, keepMs: 1000, clock: systemClock, log: silentLog });
  expect(await spool.state()).toBe('shared');
  const { upload, images } = await uploadImage(spool);
  await upload.keep(PLACE);
  await report(stores, violationOf('U1', { images }));
  await stores.request('T-1');
  await writeBatches(dataDir, [['archived-1']]);
  return { dataDir, spool };
}

const PLACE = { kind: 'violation', id: 'U1' } as const;

/** An upload with one image that is not kept yet. */
async function uploadImage(spool: Spool) {
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  return { upload, images: [{ ...stored, name: 'front.png', contentType: 'image/png' }] };
}

/** Commands on the backup of that installation. A restore goes into the empty Redis and an empty folder. */
function openBackups(serverBinary = process.env['REDIS_SERVER_BIN']) {
  const environment = { PATH: process.env['PATH'], REDIS_SERVER_BIN: serverBinary };
  const backupsOf = (url: string, dataDir: string) =>
    createBackups({
      clock: systemClock,
      environment: { ...environment, REDIS_URL: url, DATA_DIR: join(folder, dataDir) },
    });
  const backup = join(folder, 'backup');
  const codesOf = ({ kind, findings }: RestoreResult) => [
    kind,
    ...findings.filter(({ state }) => state !== 'fine').map(({ check, state, code }) => `${check} ${state} ${code}`),
  ];
  const inspect = () => backupsOf(live.url, 'data').restore({ folder: backup, ...VERIFY });
  return {
    backup,
    images: join(backup, 'data', 'spool', 'violations'),
    restored: join(folder, 'restored'),
    take: () => backupsOf(live.url, 'data').take(backup),
    verify: async () => codesOf(await inspect()),
    inspect,
    verifyInPlace: () => backupsOf(live.url, 'data').restore({ folder: null, ...VERIFY }),
    restore: async () => codesOf(await backupsOf(empty.url, 'restored').restore({ folder: backup, ...DESPITE_FAULTS })),
  };
}

/** Reads the Redis into which the backup was restored. */
async function inRestored<T>(read: (restored: Stores) => Promise<T>): Promise<T> {
  const restored = await openStores(empty.url);
  try {
    return await read(restored);
  } finally {
    restored.close();
  }
}

test('a backup with records that cannot be decoded is verified to its end, and restored despite its faults', async () => {
  await prepareInstallation();
  await stores.request('T-2');
  await reportViolations(stores, 'U2');
  await stores.redis.hset(towKey('T-2'), 'head', '{"plate_number"');
  await stores.redis.hset(violationKey('U2'), 'document', 'broken');
  const { take, verify, restore } = openBackups();
  await take();

  const findings = ['conservation fault lost', 'images warning records_unreadable'];
  expect(await verify()).toEqual(['faulty', ...findings]);
  expect(await restore()).toEqual(['restored', ...findings]);

  await inRestored(async (restored) => {
    expect((await restored.read('T-1')).tow.state).toBe('requested');
    expect((await readViolation(restored, 'U1')).state).toBe('pending');
    expect(await restored.redis.hget(violationKey('U2'), 'document')).toBe('broken');
  });
});

test('a backup with a record that this machine cannot use is verified, with a warning that its images were not checked', async () => {
  await prepareInstallation();
  await reportViolations(stores, 'U2');
  await stores.redis.hset(violationKey('U2'), 'later', 'aes:1:lost:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA');
  const { take, verify } = openBackups();
  await take();

  expect(await verify()).toEqual(['verified', 'images warning records_unreadable']);
});

test('a backup of a violation whose missing images were replaced is verified without a fault', async () => {
  const { dataDir, spool } = await prepareInstallation();
  await rm(join(dataDir, 'spool', 'violations', 'U1'), { recursive: true });
  const outbox = openOutbox(stores);
  await outbox.giveBack(await mustClaimViolation(outbox, 'U1'), { kind: 'images_missing' });
  const { upload, images } = await uploadImage(spool);
  const command = { action: 'correct', fields: {}, images } as const;
  const tools = { records: stores.records, violations: stores.violations, clock: systemClock };
  expect(await replaceImages(tools, { id: 'U1', command, actor: TESTER, upload })).toMatchObject({
    kind: 'done',
    value: { state: 'pending', replaced_images: [{ name: 'front.png' }] },
  });
  const { take, verify } = openBackups();
  await take();

  expect(await verify()).toEqual(['verified']);
});

test('a backup of an image disk that cannot be written is refused, and its message names the disk', async () => {
  await prepareInstallation();
  const marker = join(folder, 'data', 'spool', 'marker');
  await rm(marker);
  await mkdir(marker);

  await expect(openBackups().take()).rejects.toMatchObject({
    code: 'disk_unusable',
    message: 'DATA_DIR/spool cannot be read or written, which a backup needs to keep images while it copies them.',
  });
});

test('a Redis whose restore was interrupted is neither backed up nor verified, and the message names the restore', async () => {
  await prepareInstallation();
  await stores.redis.set(KEYS.schemaVersion, 'being restored: an-id');
  const { take, verifyInPlace } = openBackups();

  for (const command of [take, verifyInPlace]) {
    await expect(command()).rejects.toMatchObject({
      code: 'redis_restore_unfinished',
      message: 'A restore into the Redis of the environment is running or was interrupted.',
    });
  }
});

test('a backup without one of its images is restored despite its faults, with all other files', async () => {
  await prepareInstallation();
  const { images, restored, take, restore } = openBackups();
  await take();
  await rm(join(images, 'U1'), { recursive: true });

  expect(await restore()).toEqual(['restored', 'files fault changed', 'images fault missing']);

  expect(await filesIn(join(restored, 'spool'))).toEqual(['marker']);
  expect(await idsIn(restored)).toEqual(['archived-1']);
  await inRestored(async (there) => expect((await readViolation(there, 'U1')).state).toBe('pending'));
});

test('a backup with a changed image and without its archive is restored despite its faults, with all other files', async () => {
  await prepareInstallation();
  const { backup, images, restored, take, restore } = openBackups();
  await take();
  const [image = ''] = await filesIn(images);
  await appendFile(join(images, image), 'x');
  await rm(join(backup, 'data', 'archive'), { recursive: true });

  expect(await restore()).toEqual(['restored', 'files fault changed', 'images fault missing']);

  expect(await filesIn(restored)).toEqual(['spool/marker', `spool/violations/${image}`]);
  await inRestored(async (there) => expect((await there.read('T-1')).tow.state).toBe('requested'));
});

test('a backup without its snapshot is not restored, also not despite its faults', async () => {
  await prepareInstallation();
  const { backup, take, restore } = openBackups();
  await take();
  await rm(join(backup, SNAPSHOT));

  expect(await restore()).toEqual(['unusable', 'files fault changed', 'redis fault missing']);

  expect(await empty.ask('DBSIZE')).toBe(0);
});

test('a snapshot that Redis cannot read makes the backup unusable, and the finding is one line', async () => {
  await prepareInstallation();
  const { backup, take, inspect } = openBackups();
  await take();
  await writeFile(join(backup, SNAPSHOT), 'no snapshot');

  const { kind, findings } = await inspect();

  expect(kind).toBe('unusable');
  const [finding] = findings.filter(({ check }) => check === 'redis');
  expect(finding?.code).toBe('unreadable');
  expect(finding?.what).toMatch(/^Redis did not start in .*; .+$/);
});

test('a verification whose Redis is killed while it loads names the lack of memory and does not blame the backup', async () => {
  await prepareInstallation();
  await openBackups().take();
  const killed = await writeProgram(folder, 'killed-redis-server', [
    'case "$*" in *--version*) echo "Redis server v=8.2.3"; exit 0 ;; esac',
    'kill -KILL $$',
  ]);

  await expect(openBackups(killed).verify()).rejects.toMatchObject({
    code: 'redis_killed',
    message: 'The private Redis was killed while it loaded the backup, probably for lack of memory.',
  });
});

test('of two restores that overlap one restores the backup, and the other fails and changes nothing', async () => {
  await prepareInstallation();
  const { take, restore } = openBackups();
  await take();

  const results = await Promise.allSettled([restore(), restore()]);

  expect(results).toContainEqual({ status: 'fulfilled', value: ['restored'] });
  expect(results).toContainEqual({
    status: 'rejected',
    reason: expect.objectContaining({ code: 'redis_not_empty' }) as unknown,
  });
  await inRestored(async (restored) => expect((await restored.read('T-1')).tow.state).toBe('requested'));
});

test('a restore fails when data was written to its target during the verification, and keeps that data', async () => {
  await prepareInstallation();
  const { restored, take, restore } = openBackups();
  await take();

  const writing = async () => {
    await eventually(async () => expect(await looksAt(empty)).toBe(1));
    await empty.ask('SET', towKey('T-1'), 'live');
  };
  await empty.ask('CONFIG', 'RESETSTAT');
  const [result] = await Promise.allSettled([restore(), writing()]);

  expect(result).toMatchObject({ status: 'rejected', reason: { code: 'redis_not_empty' } });
  expect(await empty.ask('KEYS', '*')).toEqual([towKey('T-1')]);
  expect(await filesIn(restored).catch(() => [])).toEqual([]);
});

/** How often a Redis was asked whether it is empty. The verification begins after the first time. */
async function looksAt(redis: Pick<TestRedis, 'ask'>): Promise<number> {
  return Number(/cmdstat_scan:calls=(\d+)/.exec(String(await redis.ask('INFO', 'commandstats')))?.[1] ?? 0);
}
