import { DamagedRecord } from '../../src/domain/outbox/unusable-record';
import { Committer } from '../../src/store/redis/commit';
import { towKey } from '../../src/store/keys';
import { recordsOf } from '../../src/store/outbox/records';
import { isTransient } from '../../src/store/redis/until-answered';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { ACCEPTED, mustClaim, openStores, result, START, type Stores } from '../support/stores';

const redis = useOwnRedis();
let stores: Stores;
beforeEach(async () => {
  stores = await openStores(redis.url);
  await stores.request('T1');
  await stores.say('T1', START);
});
afterEach(() => {
  jest.restoreAllMocks();
  stores.close();
});

test('settling that fails with a program error is not repeated', async () => {
  const claimed = await mustClaim(stores.outbox, 'T1');
  const commit = jest
    .spyOn(Committer.prototype, 'commit')
    .mockRejectedValue(new TypeError('undefined is not a function'));

  await expect(stores.outbox.settle(claimed, result(ACCEPTED))).rejects.toThrow(TypeError);

  expect(commit).toHaveBeenCalledTimes(1);
});

test('a claim of a record that cannot be parsed is not repeated', async () => {
  await stores.redis.hset(towKey('T1'), 'r1', '{"seq":');
  const read = jest.spyOn(stores.redis, 'hgetall');

  await expect(stores.outbox.claim('T1')).rejects.toThrow(DamagedRecord);

  expect(read).toHaveBeenCalledTimes(1);
});

test('a commit that Redis answers with a script error is not repeated', async () => {
  const records = recordsOf(stores.redis);
  await stores.redis.set('{towhook-main}:of-another-type', 'text');
  const commit = jest.spyOn(Committer.prototype, 'commit');
  const wrong = records.transact(
    'any',
    (transaction) => Promise.resolve(transaction.effect(['ZADD', '{towhook-main}:of-another-type', 1, 'member'])),
    { repeatMs: 600_000 },
  );

  await expect(wrong).rejects.toThrow('WRONGTYPE');

  expect(commit).toHaveBeenCalledTimes(1);
});

test('settling that a replica refuses is repeated until the server takes writes again', async () => {
  const claimed = await mustClaim(stores.outbox, 'T1');
  await redis.ask('REPLICAOF', '127.0.0.1', '1');
  const commit = jest.spyOn(Committer.prototype, 'commit');
  const acknowledged = stores.outbox.settle(claimed, result(ACCEPTED));
  await eventually(() => Promise.resolve(expect(commit.mock.calls.length).toBeGreaterThan(1)));

  await redis.ask('REPLICAOF', 'NO', 'ONE');

  expect((await acknowledged).kind).toBe('done');
  expect(await stores.states('T1')).toEqual(['started accepted']);
});

test('settling is repeated while the server is unreachable', async () => {
  const claimed = await mustClaim(stores.outbox, 'T1');
  await redis.kill();
  const commit = jest.spyOn(Committer.prototype, 'commit');
  const acknowledged = stores.outbox.settle(claimed, result(ACCEPTED));
  await eventually(() => Promise.resolve(expect(commit.mock.calls.length).toBeGreaterThan(1)));

  await redis.start();

  expect((await acknowledged).kind).not.toBe('gone');
  expect(await stores.states('T1')).toEqual(['started accepted']);
});

/** What the client library makes of a reply of Redis that is an error. */
const repliedWith = (message: string): Promise<unknown> =>
  stores.redis.eval('return redis.error_reply(ARGV[1])', 0, message).catch((error: unknown) => error);

test.each([
  'LOADING Redis is loading the dataset in memory',
  "READONLY You can't write against a read only replica.",
  'MISCONF Redis is configured to save RDB snapshots, but it is currently unable to persist to disk.',
  'NOREPLICAS Not enough good replicas to write.',
  "OOM command not allowed when used memory > 'maxmemory'.",
  "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -OOM command not allowed when used memory > 'maxmemory'.",
  'ERR max number of clients reached',
])('a Redis error reply is treated as temporary: %s', async (message) => {
  expect(isTransient(await repliedWith(message))).toBe(true);
});

test.each([
  'WRONGTYPE Operation against a key holding the wrong kind of value script: 0ab, on @user_script:57.',
  'ERR no such effect: FLUSHALL script: 0ab, on @user_script:61.',
  'NOPERM this user has no permissions to run the set command',
  'READONLYISH is not a word of Redis',
])('a Redis error reply is treated as permanent: %s', async (message) => {
  expect(isTransient(await repliedWith(message))).toBe(false);
});

test('an error of another part of the program or an invalid argument is treated as permanent', () => {
  const mistaken = Object.assign(new TypeError('not a string'), { code: 'ERR_INVALID_ARG_TYPE' });
  expect([new Error('not a tow'), mistaken, 'text', null].map(isTransient)).toEqual([false, false, false, false]);
});

test('an error of a closed or silent connection is treated as temporary', async () => {
  const closed = await openStores(redis.url);
  closed.redis.disconnect();
  const error: unknown = await closed.redis.get('any').catch((thrown: unknown) => thrown);
  const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

  expect([error, refused, new Error('Command timed out')].map(isTransient)).toEqual([true, true, true]);
});
