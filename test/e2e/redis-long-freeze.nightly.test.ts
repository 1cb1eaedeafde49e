import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { startTowsOfTwoWorkers } from './redis-failures';

jest.setTimeout(240_000);
const redis = useOwnRedis();

afterEach(() => redis.thaw());

test('the workers recover by themselves after Redis was frozen until their blocking connections timed out', async () => {
  const { tows, workers, untilCalls, expectRecovery } = await startTowsOfTwoWorkers(redis.url);
  await untilCalls(tows);
  redis.freeze();
  // A blocking connection times out after 20 s without an answer (src/store/redis/connect.ts).
  for (const worker of workers) {
    await eventually(() => {
      const failures = worker.log.filter(({ message }) => message === 'worker.failed');
      expect(failures.some(({ error }) => String(error).startsWith('Socket timeout'))).toBe(true);
    }, 120_000);
  }
  redis.thaw();
  await expectRecovery();
});
