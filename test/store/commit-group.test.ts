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
