import { execFileSync } from 'node:child_process';
import { closeSync, constants, openSync, writeSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSpool } from '../../src/spool';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { openConnection, useRedis } from '../support/redis';
import { PNG } from '../support/images';
import { recordedLog } from '../support/recorded-log';
import { filesIn, KEEP_MS, newFolder, openSpool, pieces, sharedMarker } from './world';

it('the first process marks the image disk and the next one shares it', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect((await readFile(join(dataDir, 'spool', 'marker'), 'utf8')).trim()).toBe(await marker.read());
  expect(await filesIn(dataDir)).toEqual(['spool/claimed', 'spool/marker']);
});

it('a process on another image disk is foreign, whether that disk is fresh or marked', async () => {
  const [mine, fresh, marked] = [await newFolder(), await newFolder(), await newFolder()];
  const marker = sharedMarker();
  await openSpool(marked).state();
  expect(await openSpool(mine, marker).state()).toBe('shared');
  expect(await openSpool(fresh, marker).state()).toBe('foreign');
  expect(await openSpool(marked, marker).state()).toBe('foreign');
  expect(await filesIn(fresh)).toEqual([]);
});

it('processes that start at once on one image disk all share it', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const states = await Promise.all(Array.from({ length: 20 }, () => openSpool(dataDir, marker).state()));
  expect(new Set(states)).toEqual(new Set(['shared']));
  expect(await filesIn(dataDir)).toEqual(['spool/claimed', 'spool/marker']);
});

it('one of two processes that start at once on two image disks is foreign', async () => {
  const marker = sharedMarker();
  const disks = [await newFolder(), await newFolder()];
  const states = await Promise.all(disks.map((dataDir) => openSpool(dataDir, marker).state()));
  expect(states.toSorted()).toEqual(['foreign', 'shared']);
});

it('a marked image disk stays shared after the shared store was emptied', async () => {
  const dataDir = await newFolder();
  await openSpool(dataDir, sharedMarker()).state();
  const emptied = sharedMarker();
  expect(await openSpool(dataDir, emptied).state()).toBe('shared');
  expect(await emptied.read()).toBe((await readFile(join(dataDir, 'spool', 'marker'), 'utf8')).trim());
});

it('an image disk that lost its marker is foreign', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await openSpool(dataDir, marker).state();
  await rm(join(dataDir, 'spool', 'marker'));
  expect(await openSpool(dataDir, marker).state()).toBe('foreign');
});

it('an image disk that cannot be written is unusable before and after it was marked, and the problem names the error', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await writeFile(join(dataDir, 'spool'), 'a file where the folder should be');
  const before = openSpool(dataDir, marker);
  expect([await before.state(), before.problem()]).toEqual(['unusable', expect.stringMatching(/ \(ENOTDIR\)$/)]);
  await rm(join(dataDir, 'spool'));
  await openSpool(dataDir, marker).state();
  await rm(join(dataDir, 'spool', 'marker'));
  await mkdir(join(dataDir, 'spool', 'marker'));
  const after = openSpool(dataDir, marker);
  expect([await after.state(), after.problem()]).toEqual(['unusable', expect.stringMatching(/ \(EISDIR\)$/)]);
});

it('an image disk with less free space than an upload may need is unusable, and the problem names the free bytes', async () => {
  const options = {
    dataDir: await newFolder(),
    marker: sharedMarker(),
    keepMs: KEEP_MS,
    clock: systemClock,
    log: silentLog,
  };
  expect(await createSpool({ ...options, minFreeBytes: 1 }).state()).toBe('shared');
  const full = createSpool({ ...options, minFreeBytes: Number.MAX_SAFE_INTEGER });
  expect(await full.state()).toBe('unusable');
  expect(full.problem()).toMatch(/^only \d+ bytes are free .* IMAGES_TOTAL_BYTES_MAX$/);
});

it('many checks of an image disk that hangs wait for one answer, and other files can be read meanwhile', async () => {
  const [dataDir, other] = [await newFolder(), await newFolder()];
  await mkdir(join(dataDir, 'spool'));
  await writeFile(join(other, 'file'), 'read');
  // Opening a FIFO for reading blocks until a writer opens it.
  const pipe = join(dataDir, 'spool', 'marker');
  execFileSync('mkfifo', [pipe]);
  const spool = openSpool(dataDir);
  const states = Array.from({ length: 20 }, () => spool.state());
  expect(await readFile(join(other, 'file'), 'utf8')).toBe('read');
  const writer = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  await rm(pipe);
  await writeFile(pipe, 'the id\n');
  writeSync(writer, 'the id\n');
  closeSync(writer);
  expect(await Promise.all(states)).toEqual(states.map(() => 'shared'));
});

it('the state of the image disk is an error while the shared store does not answer', async () => {
  const away = () => Promise.reject(new Error('Redis is away'));
  await expect(openSpool(await newFolder(), { read: away, claim: away, alarmMs: away }).state()).rejects.toThrow(
    'away',
  );
});

/** An image disk in use, beside a shared store that was emptied. */
async function emptied() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const upload = await openSpool(dataDir, sharedMarker()).begin();
  await upload.write(pieces(PNG));
  await upload.keep({ kind: 'violation', id: 'v-1' });
  return { dataDir, marker };
}

it('a marked image disk in use raises an alarm beside an emptied shared store, until images may be moved', async () => {
  const { dataDir, marker } = await emptied();
  const nowMs = Date.now();
  const spoolAt = (atMs: number) => openSpool(dataDir, marker, () => atMs);
  expect(await spoolAt(nowMs).alarm()).toBeNull();
  expect(await spoolAt(nowMs).state()).toBe('shared');

  expect(await spoolAt(nowMs + KEEP_MS - 1).alarm()).toEqual({ sinceMs: nowMs });
  expect(await spoolAt(nowMs + KEEP_MS).alarm()).toBeNull();
});

it('a process logs the alarm about missing records once an hour', async () => {
  const { dataDir, marker } = await emptied();
  const { log, lines } = recordedLog();
  let nowMs = Date.now();
  const spool = openSpool(dataDir, marker, () => nowMs, log);
  await spool.state();

  for (const minutes of [0, 30, 31]) {
    nowMs += minutes * 60_000;
    await spool.alarm();
  }
  expect(lines.map(({ level, event }) => `${level} ${event}`)).toEqual(Array(2).fill('error spool.records_missing'));
});

it('a disk that Redis has claimed raises an alarm beside an emptied shared store, also without an image', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await openSpool(dataDir, sharedMarker()).state();
  const spool = openSpool(dataDir, marker);
  expect(await spool.state()).toBe('shared');
  expect(await spool.alarm()).not.toBeNull();
});

it('a disk with an archive raises an alarm beside an empty shared store', async () => {
  const dataDir = await newFolder();
  await mkdir(join(dataDir, 'archive'));
  await writeFile(join(dataDir, 'archive', '2025-01-01.1.ndjson.gz'), '');
  const spool = openSpool(dataDir);
  expect(await spool.state()).toBe('shared');
  expect(await spool.alarm()).not.toBeNull();
});

it('a disk with empty folders whose first process ended before its claim raises no alarm', async () => {
  const dataDir = await newFolder();
  await mkdir(join(dataDir, 'spool', 'violations'), { recursive: true });
  await writeFile(join(dataDir, 'spool', 'marker'), 'the-id\n');
  const spool = openSpool(dataDir);
  expect(await spool.state()).toBe('shared');
  expect(await spool.alarm()).toBeNull();
});

describe('the spool marker in Redis', () => {
  const redis = useRedis();

  const open = async () => {
    const connection = await openConnection(redis.url);
    return { connection, marker: createSpoolMarker(connection) };
  };

  it('the spool marker in Redis keeps the first id that any process claims', async () => {
    const { connection, marker } = await open();
    try {
      expect(await marker.read()).toBeNull();
      const claims = ['a', 'b', 'a'].map((id) => marker.claim(id, { alarmMs: null }));
      expect(await Promise.all(claims)).toEqual(['a', 'a', 'a']);
      expect(await redis.ask('GET', '{towhook-main}:spool-marker')).toBe('a');
      expect(await marker.claim('a', { alarmMs: 1 })).toBe('a');
      expect(await marker.alarmMs()).toBeNull();
    } finally {
      connection.disconnect();
    }
  });

  it('the alarm in Redis is raised by the claim that wins and ended by an adoption', async () => {
    const { connection, marker } = await open();
    try {
      const claims = [5, 6].map((alarmMs) => marker.claim('a', { alarmMs }));
      expect(await Promise.all(claims)).toEqual(['a', 'a']);
      expect(await marker.alarmMs()).toBe(5);
      await marker.adopt('b');
      expect([await marker.read(), await marker.alarmMs()]).toEqual(['b', null]);
    } finally {
      connection.disconnect();
    }
  });
});
