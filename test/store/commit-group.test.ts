import { systemClock } from '../../src/platform/clock';
import { Committer, type Commit } from '../../src/store/commit';
import { useRedis } from '../support/redis';
import { openStores } from '../support/stores';

const redis = useRedis();

const entering = (key: string): Commit => ({ records: [], effects: [['ZADD', key, 1, 'member']] });

test('a commit that Redis cannot carry out fails alone, and the others of its call are written', async () => {
  const stores = await openStores(redis.url);
  try {
    await stores.redis.set('{p0}:no-sorted-set', 'text');
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());

    const replies = await Promise.allSettled(
      ['{p0}:first', '{p0}:no-sorted-set', '{p0}:last'].map((key) => committer.commit(entering(key))),
    );

    expect(replies.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    expect(await stores.redis.exists('{p0}:first', '{p0}:last')).toBe(2);
  } finally {
    stores.close();
  }
});

test('a commit that deleted a record is done although a later one of its call cannot be carried out', async () => {
  const stores = await openStores(redis.url);
  try {
    await stores.redis.set('{p0}:no-sorted-set', 'text');
    await stores.redis.hset('{p0}:record', 'v', '1.a');
    const deleting: Commit = { records: [{ key: '{p0}:record', expected: '1.a', isGone: true }], effects: [] };
    const committer = new Committer(stores.redis, () => systemClock.monotonicMs());

    const replies = await Promise.allSettled([
      committer.commit(deleting),
      committer.commit(entering('{p0}:no-sorted-set')),
      committer.commit(entering('{p0}:last')),
    ]);

    expect(replies).toMatchObject([
      { status: 'fulfilled', value: { kind: 'done' } },
      { status: 'rejected' },
      { status: 'fulfilled', value: { kind: 'done' } },
    ]);
    expect(replies.map((reply) => (reply.status === 'rejected' ? String(reply.reason) : ''))[1]).toContain('WRONGTYPE');
    expect(await stores.redis.exists('{p0}:record', '{p0}:last')).toBe(1);
  } finally {
    stores.close();
  }
});
