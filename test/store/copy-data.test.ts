import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log/log';
import { connectFailFast, whenReady } from '../../src/store/redis/connect';
import { copyData, endCopy, releaseTarget, restoredLifetimeMs, takeTarget } from '../../src/store/ops/copy-data';
import { KEYS, towKey } from '../../src/store/keys';
import { createProcessStore } from '../../src/store/ops/processes';
import { prepareSchema } from '../../src/store/ops/schema';
import { beatingProcess, NOTHING } from '../support/processes';
import { useOwnRedis, useRedis } from '../support/redis';

const [source, target] = [useRedis(), useOwnRedis()];
let from: Redis;
let to: Redis;
beforeEach(async () => {
  from = connectFailFast(source.url, { log: silentLog });
  to = connectFailFast(target.url, { log: silentLog });
  await Promise.all([whenReady(from, 30_000), whenReady(to, 30_000)]);
});
afterEach(() => {
  from.disconnect();
  to.disconnect();
});

it('all keys are copied with their types, bytes and lifetimes, and keys of other programs are not', async () => {
  await prepareSchema(from);
  const bytes = Buffer.from([0, 255, 10, 13]);
  await from.set('{towhook-main}:bytes', bytes);
  await from.hset('{towhook-main}:hash', 'field', 'قيمة');
  await from.zadd('{towhook-main}:sorted', 1.5, 'member');
  await from.rpush('{towhook-main}:list', 'a', 'b');
  await from.set('{towhook-main}:expiring', '1', 'PX', 3_600_000);
  await from.set('other', '1');
  for (let at = 0; at < 500; at += 1) await from.set(`{towhook-main}:number:${at}`, at);

  expect(await copyData(from, to)).toBe(505);
  await endCopy(from, to);

  expect(await to.getBuffer('{towhook-main}:bytes')).toEqual(bytes);
  expect(await to.hgetall('{towhook-main}:hash')).toEqual({ field: 'قيمة' });
  expect(await to.zscore('{towhook-main}:sorted', 'member')).toBe('1.5');
  expect(await to.lrange('{towhook-main}:list', 0, -1)).toEqual(['a', 'b']);
  expect(await to.pttl('{towhook-main}:expiring')).toBeGreaterThan(0);
  expect(await to.pttl('{towhook-main}:bytes')).toBe(-1);
  expect(await to.exists('other')).toBe(0);
  expect(await to.dbsize()).toBe(506);
});

it('a copy has no processes, because those of the original do not use it', async () => {
  await prepareSchema(from);
  await createProcessStore(from).beat(beatingProcess('p1'), NOTHING);
  await copyData(from, to);
  await endCopy(from, to);
  expect(await createProcessStore(from).list()).toMatchObject([{ id: 'p1' }]);
  expect(await createProcessStore(to).list()).toEqual([]);
  expect(await to.exists(KEYS.processes, KEYS.heartbeats)).toBe(0);
});

it('no role starts on a Redis that is not completely restored', async () => {
  await prepareSchema(from);
  expect(await takeTarget(to, 'first')).toBe(true);
  await copyData(from, to);

  await expect(prepareSchema(to)).rejects.toThrow('a restore into this Redis is running or was interrupted');

  await endCopy(from, to);
  expect(await to.get(KEYS.schemaVersion)).toBe(await from.get(KEYS.schemaVersion));
  await prepareSchema(to);
});

it('only one copy takes an empty Redis, and may ask again after a lost reply', async () => {
  const taken = await Promise.all(['first', 'second', 'third'].map((id) => takeTarget(to, id)));
  expect(taken).toEqual([true, false, false]);

  expect(await takeTarget(to, 'first')).toBe(true);
  await releaseTarget(to);
  expect(await to.dbsize()).toBe(0);
  expect(await takeTarget(to, 'second')).toBe(true);
});

it('a Redis with data is not taken as the target of a copy, and stays as it was', async () => {
  await to.set(towKey('T-1'), '1');
  expect(await takeTarget(to, 'first')).toBe(false);
  expect(await to.keys('*')).toEqual([towKey('T-1')]);

  await to.del(towKey('T-1'));
  await prepareSchema(to);
  const version = await to.get(KEYS.schemaVersion);
  expect(await takeTarget(to, 'first')).toBe(false);
  expect(await to.get(KEYS.schemaVersion)).toBe(version);
});

it('the data of another installation does not keep a Redis from being the target of a copy', async () => {
  await to.set('{towhook-other}:tow:T-1', '1');
  expect(await takeTarget(to, 'first')).toBe(true);
  expect(await to.get('{towhook-other}:tow:T-1')).toBe('1');
});

it('a copy has an epoch of its own', async () => {
  await prepareSchema(from);
  await takeTarget(to, 'first');
  await copyData(from, to);
  await endCopy(from, to);
  await prepareSchema(to);
  const [before, after] = [await from.get(KEYS.epoch), await to.get(KEYS.epoch)];
  expect(before).toMatch(/^[0-9a-f]{12}$/);
  expect(after).toMatch(/^[0-9a-f]{12}$/);
  expect(after).not.toBe(before);

  await prepareSchema(to);
  expect(await to.get(KEYS.epoch)).toBe(after);
});

it.each([
  ['none, which stays none', -1, 0],
  ['its last millisecond, which it keeps', 0, 1],
  ['an hour, which it keeps', 3_600_000, 3_600_000],
])('a copied key has a lifetime: %s', (_name, leftMs, restoredMs) => {
  expect(restoredLifetimeMs(leftMs)).toBe(restoredMs);
});
