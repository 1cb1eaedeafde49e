import { silentLog } from '../../src/platform/log';
import { differenceKey } from '../../src/store/keys';
import { startApp } from '../support/app';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { oddAnswer } from '../support/stores';

const redis = useOwnRedis();

test('answers that differ are counted although Redis was away when they were to be stored', async () => {
  const warnings: string[] = [];
  const log = { ...silentLog, warn: (event: string) => void warnings.push(event) };
  const app = await startApp({ redisUrl: redis.url, role: 'worker', log });
  const { foundation } = app;
  const difference = oddAnswer('ticket');
  await redis.kill();
  foundation.serviceObserver.differed(difference);
  foundation.serviceObserver.differed(difference);
  await eventually(() => expect(warnings).toContain('observer.failed'));
  await redis.start();
  await eventually(() => foundation.redis.ping());

  await app.stop();

  expect(await redis.ask('HGET', differenceKey(difference.id), 'count')).toBe('2');
});
