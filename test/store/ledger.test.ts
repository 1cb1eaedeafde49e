import type { Redis } from 'ioredis';
import { KEYS } from '../../src/store/keys';
import { entriesAfter } from '../../src/store/ops/ledger';
import { useConnection, useRedis } from '../support/redis';

let redis: Redis;
useConnection(useRedis(), (connection) => {
  redis = connection;
});
afterEach(() => jest.restoreAllMocks());

const ENDS = { deliveries: 10, tows: 0, violations: 0 };
const membersAfter = async (member: string, count: number) => {
  const place = { index: 'deliveries', score: 1, member } as const;
  return (await entriesAfter(redis, { place, ends: ENDS }, count)).map((entry) => entry.member);
};

test.each<[string, (members: string) => Promise<unknown>]>([
  ['removed', () => redis.zrem(KEYS.indexDeliveries, 'a')],
  ['added', () => redis.zadd(KEYS.indexDeliveries, 1, 'a0')],
])(
  'entries of one score are read once each when another is %s between two reads of one call',
  async (_what, change) => {
    await redis.zadd(KEYS.indexDeliveries, ...['a', 'b', 'c', 'd', 'e'].flatMap((member) => [1, member]));
    const read = redis.zrangebyscore.bind(redis);
    let reads = 0;
    jest.spyOn(redis, 'zrangebyscore').mockImplementation(async (...range: Parameters<typeof read>) => {
      const rows = await read(...range);
      reads += 1;
      if (reads === 1) await change('a');
      return rows;
    });

    expect(await membersAfter('b', 2)).toEqual(['c', 'd']);
    expect(reads).toBeGreaterThan(1);
  },
);
