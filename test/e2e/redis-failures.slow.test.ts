import { useOwnRedis } from '../support/redis';
import { expectNotReady, expectReady, startTowsOfTwoWorkers } from './redis-failures';

jest.setTimeout(240_000);
const redis = useOwnRedis();

interface Failure {
  readonly name: string;
  readonly begin: () => Promise<unknown>;
  readonly end: () => Promise<unknown>;
  /** The state of Redis that /readyz shows during the failure. */
  readonly redisState: string;
}

const FAILURES: readonly Failure[] = [
  {
    name: 'is killed with SIGKILL and restarted',
    begin: () => redis.kill(),
    end: () => redis.start(),
    redisState: 'unreachable',
  },
  {
    name: 'is frozen and continued',
    begin: async () => redis.freeze(),
    end: async () => redis.thaw(),
    redisState: 'unreachable',
  },
  {
    name: 'runs out of memory and gets more',
    begin: () => redis.ask('CONFIG', 'SET', 'maxmemory', '100kb', 'maxmemory-policy', 'noeviction'),
    end: () => redis.ask('CONFIG', 'SET', 'maxmemory', '0'),
    redisState: 'refuses_writes',
  },
  {
    name: 'becomes a replica and a primary again',
    begin: () => redis.ask('REPLICAOF', '127.0.0.1', '1'),
    end: () => redis.ask('REPLICAOF', 'NO', 'ONE'),
    redisState: 'refuses_writes',
  },
];

afterEach(async () => {
  redis.thaw();
  await redis.start();
  await redis.ask('CONFIG', 'SET', 'maxmemory', '0');
  await redis.ask('REPLICAOF', 'NO', 'ONE');
});

test.each(FAILURES)(
  'when Redis $name twice while tows are worked on, the workers recover by themselves and every tow finishes in order',
  async ({ begin, end, redisState }) => {
    const { tows, workers, untilCalls, expectRecovery } = await startTowsOfTwoWorkers(redis.url);
    for (const calls of [tows / 2, tows * 1.5]) {
      await untilCalls(calls);
      await begin();
      for (const worker of workers) await expectNotReady(worker, redisState);
      await end();
      for (const worker of workers) await expectReady(worker);
    }
    await expectRecovery();
  },
);
