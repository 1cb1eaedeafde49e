import { silentLog } from '../../src/platform/log/log';
import { differenceKey, KEYS } from '../../src/store/keys';
import { json, startFakeService } from '../service/fake-service';
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

test('answers that differ are counted once while replicas are missing', async () => {
  const app = await startApp({ redisUrl: redis.url, role: 'worker', environment: { REDIS_MIN_REPLICAS: '1' } });
  const difference = oddAnswer('ticket');
  const counted = () => redis.ask('HGET', differenceKey(difference.id), 'count');
  app.foundation.serviceObserver.differed(difference);
  await eventually(async () => expect(await counted()).not.toBeNull());

  await app.stop();

  expect(await counted()).toBe('1');
});

test.each([
  ['about another zone', { zoneId: '00000000-0000-4000-8000-000000000000', availableSlots: 3 }],
  ['without its slots', { zoneId: '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c' }],
])('an answer to a lookup that is %s is counted once and opens a task', async (_what, body) => {
  const service = await startFakeService();
  try {
    service.onCall(() => json(body));
    const environment = { SERVICE_BASE_URL: service.url };
    const app = await startApp({ redisUrl: redis.url, role: 'console', environment });
    const address = `${app.consoleUrl}/api/zones/7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c/capacity`;
    const { status } = await fetch(address, { headers: { authorization: `Bearer ${app.apiKey}` } });
    // What was seen is stored at the latest when the process ends.
    await app.stop();

    expect(status).toBe(502);
    expect(await redis.ask('ZRANGE', KEYS.differences, '0', '-1')).toEqual([
      expect.stringMatching(/^answer\.capacity\./),
    ]);
    const [id] = [await redis.ask('ZRANGE', KEYS.differences, '0', '-1')].flat();
    expect(await redis.ask('HGET', differenceKey(String(id)), 'count')).toBe('1');
    expect(await redis.ask('HKEYS', KEYS.tasks)).toEqual([`differs.${String(id)}`]);
  } finally {
    await service.stop();
  }
});
