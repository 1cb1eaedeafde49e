import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import { createSpool } from '../../src/spool';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { filesIn, KEEP_MS, newFolder, openSpool, pieces, sharedMarker } from './world';

const HOUR_MS = 3_600_000;

/** A spool with an unfinished upload and a kept violation. */
async function leftBehind(id = 'v-1') {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const spool = openSpool(dataDir, marker);
  expect(await spool.state()).toBe('shared');
  await (await spool.begin()).write(pieces(PNG));
  const upload = await spool.begin();
  await upload.write(pieces(PNG));
  await upload.keep({ kind: 'violation', id });
  const sweepAfter = async (ageMs: number, isRecorded: (id: string) => Promise<boolean>) => {
    const nowMs = Date.now() + ageMs;
    const fresh = join(dataDir, 'spool', 'incoming', 'fresh');
    await mkdir(fresh, { recursive: true });
    await writeFile(join(fresh, '1'), 'still coming');
    await utimes(fresh, nowMs / 1000, nowMs / 1000);
    const sweeping = openSpool(dataDir, marker, () => nowMs).startSweeping({
      violation: isRecorded,
      photosOf: () => Promise.resolve(null),
    });
    return { stop: () => sweeping.stop() };
  };
  const lying = async () => (await filesIn(join(dataDir, 'spool'))).map((path) => path.split('/')[0]);
  return { dataDir, sweepAfter, lying };
}

it('the spool sweep removes an abandoned upload after an hour and no upload in progress', async () => {
  const { sweepAfter, lying } = await leftBehind();
  const asked: string[] = [];
  const ask = (id: string) => {
    asked.push(id);
    return Promise.resolve(false);
  };
  const { stop } = await sweepAfter(1.1 * HOUR_MS, ask);
  await eventually(async () => expect(await lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']));
  await stop();
  expect(asked).toEqual([]);
});

it('the spool sweep leaves images without a violation in place for KEEP_VIOLATIONS_HOURS', async () => {
  const { sweepAfter, lying } = await leftBehind();
  const { stop } = await sweepAfter(KEEP_MS - HOUR_MS, () => Promise.resolve(false));
  await stop();
  expect(await lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']);
});

it('the spool sweep moves images without a violation to the orphans after their time and keeps all others', async () => {
  const unrecorded = await leftBehind('v 1/.');
  const asked: string[] = [];
  const first = await unrecorded.sweepAfter(KEEP_MS + HOUR_MS, (id) => {
    asked.push(id);
    return Promise.resolve(false);
  });
  await eventually(async () => expect(await unrecorded.lying()).toEqual(['claimed', 'incoming', 'marker', 'orphans']));
  await first.stop();
  expect(asked).toEqual(['v 1/.']);

  const recorded = await leftBehind();
  const second = await recorded.sweepAfter(KEEP_MS + HOUR_MS, () => Promise.resolve(true));
  await eventually(async () => expect(await recorded.lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']));
  await second.stop();
});

it('the spool sweep keeps the names of orphans and removes none of them', async () => {
  const { dataDir, sweepAfter } = await leftBehind();
  await mkdir(join(dataDir, 'spool', 'orphans', 'v-1'), { recursive: true });
  await writeFile(join(dataDir, 'spool', 'orphans', 'v-1', 'earlier'), 'an orphan of the same name');
  const unknown = () => Promise.resolve(false);
  await (await sweepAfter(KEEP_MS + HOUR_MS, unknown)).stop();
  await (await sweepAfter(100 * KEEP_MS, unknown)).stop();
  const orphans = await filesIn(join(dataDir, 'spool', 'orphans'));
  expect(orphans).toEqual([expect.stringMatching(/^v-1\.2\/.+\.1$/), 'v-1/earlier']);
});

it('the spool sweep moves nothing while records are missing and removes abandoned uploads', async () => {
  const { dataDir } = await leftBehind();
  const marker = sharedMarker();
  const nowMs = Date.now();
  const sweepAt = async (atMs: number) => {
    const sweeping = openSpool(dataDir, marker, () => atMs).startSweeping({
      violation: () => Promise.resolve(false),
      photosOf: () => Promise.resolve([]),
    });
    await sweeping.stop();
    return (await filesIn(join(dataDir, 'spool'))).map((path) => path.split('/')[0]);
  };
  expect(await sweepAt(nowMs + 10 * KEEP_MS)).toEqual(['claimed', 'marker', 'violations']);
  expect(await sweepAt(nowMs + 11 * KEEP_MS - 1)).toEqual(['claimed', 'marker', 'violations']);
  expect(await sweepAt(nowMs + 11 * KEEP_MS)).toEqual(['claimed', 'marker', 'orphans']);
});

it('the spool sweep moves nothing while it cannot look up violations', async () => {
  const { sweepAfter, lying } = await leftBehind();
  const { stop } = await sweepAfter(KEEP_MS + HOUR_MS, () => Promise.reject(new Error('Redis is away')));
  await eventually(async () => expect(await lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']));
  await stop();
  expect(await lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']);
});

it('the spool sweep moves nothing on a foreign image disk', async () => {
  const { dataDir, lying } = await leftBehind();
  const marker = sharedMarker();
  await marker.claim('another disk', { alarmMs: null });
  const sweeping = openSpool(dataDir, marker, () => Date.now() + KEEP_MS + HOUR_MS).startSweeping({
    violation: () => Promise.resolve(false),
    photosOf: () => Promise.resolve([]),
  });
  await sweeping.stop();
  expect(await lying()).toEqual(['claimed', 'incoming', 'marker', 'violations']);
});

it('the spool sweep moves photos that their tow does not name to the orphans after a day and keeps those of an absent tow', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const spool = openSpool(dataDir, marker);
  await spool.state();
  const keep = async (towingReference: string) => {
    const upload = await spool.begin();
    const { file } = await upload.write(pieces(PNG));
    await upload.keep({ kind: 'photos', towingReference });
    return file;
  };
  const [named, orphan, archived] = [await keep('TW/1'), await keep('TW/1'), await keep('TW-2')];
  const sweepAfter = async (hours: number) => {
    const nowMs = () => Date.now() + hours * HOUR_MS;
    const sweeping = openSpool(dataDir, marker, nowMs).startSweeping({
      violation: () => Promise.resolve(true),
      photosOf: (ref) => Promise.resolve(ref === 'TW/1' ? [named] : null),
    });
    await sweeping.stop();
  };
  const left = async () => new Set((await filesIn(join(dataDir, 'photos'))).map((path) => path.split('/')[1]));

  await sweepAfter(23);
  expect(await left()).toEqual(new Set([named, orphan, archived]));
  await sweepAfter(25);
  expect(await left()).toEqual(new Set([named, archived]));
  expect(await filesIn(join(dataDir, 'spool', 'orphans'))).toEqual([`photos.TW%2F1/${orphan}`]);
});

/** An image disk on which a check of the state cannot write, with what uploads and a killed backup have left. */
async function fullDisk() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const clock = { ...systemClock, id: () => 'fixed' };
  const spool = createSpool({ dataDir, marker, keepMs: KEEP_MS, clock, log: silentLog });
  expect(await spool.state()).toBe('shared');
  const upload = await spool.begin();
  await upload.write(pieces(PNG));
  await upload.keep({ kind: 'violation', id: 'v-1' });
  const folder = join(dataDir, 'spool');
  const probe = join(folder, 'incoming', 'probe.fixed');
  await mkdir(probe);
  for (const [owner, name] of [
    ['incoming', 'x'],
    ['dropped', 'v'],
  ] as const) {
    await mkdir(join(folder, owner, name), { recursive: true });
    await writeFile(join(folder, owner, name, '1'), 'an image');
  }
  await writeFile(join(folder, 'backup-running'), '');
  const longAgoS = Date.now() / 1000 - 3601;
  for (const path of ['incoming/x', 'backup-running']) await utimes(join(folder, path), longAgoS, longAgoS);
  expect(await spool.state()).toBe('unusable');
  const sweep = async () => {
    const references = { violation: () => Promise.resolve(false), photosOf: () => Promise.resolve([]) };
    await spool.startSweeping(references).stop();
    return (await filesIn(folder)).map((path) => path.split('/').slice(0, 2).join('/'));
  };
  return { folder, sweep };
}

it('the spool sweep removes old uploads and dropped images from a full disk and moves nothing', async () => {
  const { folder, sweep } = await fullDisk();
  const images = join(folder, 'violations', 'v-1');
  await utimes(images, 0, 0);
  expect(await sweep()).toEqual(['claimed', 'marker', 'violations/v-1']);
});

it('the spool sweep removes nothing from an unusable disk without the shared marker', async () => {
  const { folder, sweep } = await fullDisk();
  await rm(join(folder, 'marker'));
  await mkdir(join(folder, 'marker'));
  expect(await sweep()).toEqual(['backup-running', 'claimed', 'dropped/v', 'incoming/x', 'violations/v-1']);
});
