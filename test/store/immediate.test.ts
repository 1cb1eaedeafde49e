import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log';
import { Committer } from '../../src/store/commit';
import { connectPatient, whenReady } from '../../src/store/connect';
import { immediateEffects, takeImmediate } from '../../src/store/immediate';
import { KEYS, PARTITION } from '../../src/store/keys';
import { openConnection, useRedis } from '../support/redis';

const redis = useRedis();
/** Where BullMQ keeps that a queue is paused. */
const TOWS = { listKey: KEYS.immediateTows, queueKey: '{p0}:reports:meta' };
let own: Redis;
let connections: Redis[];
let committer: Committer;

beforeEach(async () => {
  own = await openConnection(redis.url);
  connections = [own, ...Array.from({ length: 2 }, () => connectPatient(redis.url, { log: silentLog }))];
  await Promise.all(connections.map((connection) => whenReady(connection, 5000)));
  committer = new Committer(own, () => performance.now());
});
afterEach(() => connections.forEach((connection) => connection.disconnect()));

const hand = async (...refs: readonly string[]) => {
  for (const ref of refs) await committer.commit({ records: [], effects: immediateEffects(ref) });
};
const takers = () => connections.slice(1);
const take = (connection: Redis) => takeImmediate(connection, TOWS);
const left = () => redis.ask('LRANGE', KEYS.immediateTows, '0', '-1');

test('a worker that waits gets the tow of a commit', async () => {
  const taken = Promise.all(takers().slice(0, 1).map(take));
  await hand('T1');

  expect(await taken).toEqual([['T1']]);
  expect(await left()).toEqual([]);
});

test('the tows that came meanwhile are taken together, in order, and each by one worker', async () => {
  await hand('T1', 'T2', 'T3');

  const taken = takers().map(take);
  expect(await Promise.race(taken)).toEqual(['T1', 'T2', 'T3']);
  await hand('T4');

  expect(await Promise.all(taken)).toContainEqual(['T4']);
});

test('no tow is taken up while the queue is paused, and later ones are after it', async () => {
  const queue = new Queue('reports', { connection: own, prefix: PARTITION });
  await queue.pause();
  await hand('T1');
  const [worker] = takers();
  expect(worker && (await take(worker))).toEqual([]);

  await queue.resume();
  await hand('T2');

  expect(worker && (await take(worker))).toEqual(['T2']);
});

test('the list keeps the last 1,000 tows while no worker takes them', async () => {
  const refs = Array.from({ length: 1003 }, (_, place) => `T${place}`);
  await Promise.all(refs.map((ref) => committer.commit({ records: [], effects: immediateEffects(ref) })));

  expect(await left()).toEqual(refs.slice(3));
});
