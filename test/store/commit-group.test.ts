import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { untilRead } from '../../src/platform/timers';
import { Committer, type Commit } from '../../src/store/redis/commit';
import { isTransient } from '../../src/store/redis/until-answered';
import { eventually } from '../support/eventually';
import { useOwnRedis, useRedis } from '../support/redis';
import { openStores } from '../support/stores';
import { PROJECT } from '../support/project';

const redis = useRedis();

const own = useOwnRedis();

/** In Redis 6.2 a script catches the errors of commands in this form. */
const ERRORS_OF_6_2 = `
local caught = pcall
local function pcall(...)
  local is_done, problem = caught(...)
  if is_done then
    return true, problem
  end
  return false, '@user_script: 62: -' .. (type(problem) == 'table' and problem.err or problem)
end
`;

const entering = (key: string): Commit => ({ records: [], effects: [['ZADD', key, 1, 'member']] });

test('a commit that Redis cannot carry out fails alone, and the others of its call are written', async () => {
  const stores = await openStores(redis.url);
  try {
    await stores.redis.set('{towhook-main}:no-sorted-set', 'text');
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());

    const replies = await Promise.allSettled(
      ['{towhook-main}:first', '{towhook-main}:no-sorted-set', '{towhook-main}:last'].map((key) =>
        committer.commit(entering(key)),
      ),
    );

    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stores.redis.exists('{towhook-main}:first', '{towhook-main}:last')).toBe(2);
  } finally {
    stores.close();
  }
});

test('a commit that deleted a record is done although a later one of its call cannot be carried out', async () => {
  const stores = await openStores(redis.url);
  try {
    await stores.redis.set('{towhook-main}:no-sorted-set', 'text');
    await stores.redis.hset('{towhook-main}:record', 'v', '1.a');
    const deleting: Commit = {
      records: [{ key: '{towhook-main}:record', expected: '1.a', isGone: true }],
      effects: [],
    };
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());

    const replies = await Promise.allSettled([
      committer.commit(deleting),
      committer.commit(entering('{towhook-main}:no-sorted-set')),
      committer.commit(entering('{towhook-main}:last')),
    ]);

    expect(replies).toMatchObject([
      { status: 'fulfilled', value: 'done' },
      { status: 'rejected' },
      { status: 'fulfilled', value: 'done' },
    ]);
    expect(replies.map((reply) => (reply.status === 'rejected' ? String(reply.reason) : ''))[1]).toContain('WRONGTYPE');
    expect(await stores.redis.exists('{towhook-main}:record', '{towhook-main}:last')).toBe(1);
  } finally {
    stores.close();
  }
});

describe('a commit is stale and writes nothing', () => {
  const stale = async (commit: Partial<Commit>) => {
    const stores = await openStores(redis.url);
    try {
      await stores.redis.hset('{towhook-main}:checked', 'v', '1.a', 'field', 'new');
      const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
      const reply = await committer.commit({ ...entering('{towhook-main}:written'), ...commit });
      return [reply, await stores.redis.exists('{towhook-main}:written')];
    } finally {
      stores.close();
    }
  };

  test('when a value that it checks has changed', async () => {
    const check = { key: '{towhook-main}:checked', field: 'field' };
    expect(await stale({ checks: [{ ...check, value: 'old' }] })).toEqual(['stale', 0]);
    expect(await stale({ checks: [{ ...check, value: '' }] })).toEqual(['stale', 0]);
    expect(await stale({ checks: [{ ...check, value: 'new' }] })).toEqual(['done', 1]);
  });

  test('when it comes later than its lease allows', async () => {
    const record = { key: '{towhook-main}:checked', expected: '1.a' };
    expect(await stale({ records: [{ ...record, notAfterMs: 1 }] })).toEqual(['stale', 0]);
    expect(await stale({ records: [{ ...record, notAfterMs: Date.now() + 60_000 }] })).toEqual(['done', 1]);
  });
});

test('a commit whose reply was lost is done when it is repeated, and stale when another one came after it', async () => {
  const stores = await openStores(redis.url);
  try {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    const writing = (expected: string, version: string): Commit => ({
      records: [{ key: '{towhook-main}:record', expected, version, set: {}, remove: [] }],
      effects: [],
    });
    expect(await committer.commit(writing('', '1.a'))).toBe('done');
    expect(await committer.commit(writing('', '1.a'))).toBe('done');
    expect(await committer.commit(writing('1.a', '2.b'))).toBe('done');

    expect(await committer.commit(writing('', '1.a'))).toBe('stale');
  } finally {
    stores.close();
  }
});

test('commits that come together share one call, up to four calls run at a time, and the others share the next', async () => {
  const [stores, others] = [await openStores(redis.url), await openStores(redis.url)];
  try {
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    const calls = jest.spyOn(stores.redis, 'evalsha');
    await committer.commit(entering('{towhook-main}:loaded'));
    calls.mockClear();
    const written: Promise<unknown>[] = [];
    const commit = (group: string, count: number) => {
      for (let nth = 0; nth < count; nth += 1) {
        written.push(committer.commit(entering(`{towhook-main}:${group}.${nth}`)));
      }
    };
    // Nothing is answered until the writes go on.
    await stores.redis.client('PAUSE', 60_000, 'WRITE');
    for (const [place, count] of [1, 50, 1, 5].entries()) {
      commit(`group${place}`, count);
      await eventually(() => expect(calls).toHaveBeenCalledTimes(place + 1));
    }
    commit('fifth', 7);
    await untilRead();
    commit('fifth', 7);
    await untilRead();
    expect(calls).toHaveBeenCalledTimes(4);

    await others.redis.client('UNPAUSE');
    await Promise.all(written);
    expect(calls).toHaveBeenCalledTimes(5);
  } finally {
    await others.redis.client('UNPAUSE');
    stores.close();
    others.close();
  }
});

test('a commit that Redis 6.2 refuses for want of replicas may be repeated, and is written when it takes writes', async () => {
  const stores = await openStores(own.url);
  try {
    const textOf = (name: string) => readFileSync(join(PROJECT, 'src/store/lua', name), 'utf8');
    const script = textOf('shared/now.lua') + textOf('commit.lua');
    jest
      .spyOn(stores.redis, 'evalsha')
      .mockImplementation((_sha, keyCount, ...rest) => stores.redis.eval(ERRORS_OF_6_2 + script, keyCount, ...rest));
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());
    await own.ask('CONFIG', 'SET', 'min-replicas-to-write', '1');

    const refused: unknown = await committer.commit(entering('{towhook-main}:late')).catch((error: unknown) => error);
    await own.ask('CONFIG', 'SET', 'min-replicas-to-write', '0');

    expect(String(refused)).toContain('@user_script: 62: -NOREPLICAS');
    expect(isTransient(refused)).toBe(true);
    expect(await committer.commit(entering('{towhook-main}:late'))).toBe('done');
  } finally {
    stores.close();
  }
});
