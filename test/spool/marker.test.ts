import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { createSpoolMarker } from '../../src/store/spool-marker';
import { silentLog } from '../../src/platform/log';
import { useRedis } from '../support/redis';
import { filesIn, newFolder, openSpool, sharedMarker } from './world';

it('the first process marks the disk, and the next one on the same disk shares it', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect(await openSpool(dataDir, marker).state()).toBe('shared');
  expect((await readFile(join(dataDir, 'spool', 'marker'), 'utf8')).trim()).toBe(await marker.read());
  expect(await filesIn(dataDir)).toEqual(['spool/marker']);
});

it('a process with another disk is told so, whether that disk is fresh or has a mark of its own', async () => {
  const [mine, fresh, marked] = [await newFolder(), await newFolder(), await newFolder()];
  const marker = sharedMarker();
  await openSpool(marked).state();
  expect(await openSpool(mine, marker).state()).toBe('shared');
  expect(await openSpool(fresh, marker).state()).toBe('foreign');
  expect(await openSpool(marked, marker).state()).toBe('foreign');
  expect(await filesIn(fresh)).toEqual([]);
});

it('many processes that start at once on one disk all share it', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const states = await Promise.all(Array.from({ length: 20 }, () => openSpool(dataDir, marker).state()));
  expect(new Set(states)).toEqual(new Set(['shared']));
  expect(await filesIn(dataDir)).toEqual(['spool/marker']);
});

it('of two processes that start at once on two disks one is foreign', async () => {
  const marker = sharedMarker();
  const disks = [await newFolder(), await newFolder()];
  const states = await Promise.all(disks.map((dataDir) => openSpool(dataDir, marker).state()));
  expect(states.toSorted()).toEqual(['foreign', 'shared']);
});

it('a marked disk goes on after the shared store was emptied', async () => {
  const dataDir = await newFolder();
  await openSpool(dataDir, sharedMarker()).state();
  const emptied = sharedMarker();
  expect(await openSpool(dataDir, emptied).state()).toBe('shared');
  expect(await emptied.read()).toBe((await readFile(join(dataDir, 'spool', 'marker'), 'utf8')).trim());
});

it('a disk whose mark went away is another disk', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await openSpool(dataDir, marker).state();
  await rm(join(dataDir, 'spool', 'marker'));
  expect(await openSpool(dataDir, marker).state()).toBe('foreign');
});

it('a disk that cannot be written is unusable, before and after it was marked', async () => {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  await writeFile(join(dataDir, 'spool'), 'a file where the folder should be');
  expect(await openSpool(dataDir, marker).state()).toBe('unusable');
  await rm(join(dataDir, 'spool'));
  await openSpool(dataDir, marker).state();
  await rm(join(dataDir, 'spool', 'marker'));
  await mkdir(join(dataDir, 'spool', 'marker'));
  expect(await openSpool(dataDir, marker).state()).toBe('unusable');
});

it('while the shared store cannot be asked there is no answer, rather than a wrong one', async () => {
  const away = () => Promise.reject(new Error('Redis is away'));
  await expect(openSpool(await newFolder(), { read: away, claim: away }).state()).rejects.toThrow('away');
});

describe('in Redis', () => {
  const redis = useRedis();

  it('the first id counts for everybody', async () => {
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
