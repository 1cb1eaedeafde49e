import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { createSpoolMarker } from '../../src/store/spool-marker';
import { silentLog } from '../../src/platform/log';
import { useRedis } from '../support/redis';
import { filesIn, newFolder, openSpool, sharedMarker } from './world';

it('the first process marks the image disk and the next one shares it', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect((await readFile(join(dataDir, 'spool', 'marker'), 'utf8')).trim()).toBe(await marker.read());
  expect(await filesIn(dataDir)).toEqual(['spool/marker']);
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
  expect(await filesIn(dataDir)).toEqual(['spool/marker']);
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

it('an image disk that cannot be written is unusable before and after it was marked', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await writeFile(join(dataDir, 'spool'), 'a file where the folder should be');
  expect(await openSpool(dataDir, marker).state()).toBe('unusable');
  await rm(join(dataDir, 'spool'));
  await openSpool(dataDir, marker).state();
  await rm(join(dataDir, 'spool', 'marker'));
  await mkdir(join(dataDir, 'spool', 'marker'));
  expect(await openSpool(dataDir, marker).state()).toBe('unusable');
});

it('the state of the image disk is an error while the shared store does not answer', async () => {
  const away = () => Promise.reject(new Error('Redis is away'));
  await expect(openSpool(await newFolder(), { read: away, claim: away }).state()).rejects.toThrow('away');
});

describe('in Redis', () => {
  const redis = useRedis();

  it('the spool marker in Redis keeps the first id that any process claims', async () => {
    const connection = connectFailFast(redis.url, { log: silentLog });
    try {
      await whenReady(connection, 5000);
      const marker = createSpoolMarker(connection);
      expect(await marker.read()).toBeNull();
      expect(await Promise.all(['a', 'b', 'a'].map((id) => marker.claim(id)))).toEqual(['a', 'a', 'a']);
      expect(await redis.ask('GET', '{p0}:spool-marker')).toBe('a');
    } finally {
      connection.disconnect();
    }
  });
});
