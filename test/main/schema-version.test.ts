import { KEYS } from '../../src/store/keys';
import { startApp } from '../support/app';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';

jest.setTimeout(90_000);
const redis = useOwnRedis();

test('the first process stores the version of the schema', async () => {
  const app = await startApp({ redisUrl: redis.url, role: 'console' });
  await app.stop();

  expect(await redis.ask('GET', KEYS.schemaVersion)).toBe('1');
});

test('a process ends with exit code 2 on data of a later schema, and names both versions', async () => {
  await redis.ask('SET', KEYS.schemaVersion, '7');

  const started = await startProcess('receiver', { REDIS_URL: redis.url });

  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('data of schema 7, and this version of towhook knows schemas up to 1');
  expect(await redis.ask('GET', KEYS.schemaVersion)).toBe('7');
});

test('a process that starts while Redis is away ends when Redis comes back with data of a later schema', async () => {
  await redis.ask('SET', KEYS.schemaVersion, '7');
  await redis.kill();
  const started = await startProcess('receiver', { REDIS_URL: redis.url });
  await started.logged('process.started');

  await redis.start();

  expect(await started.exited).toBe(1);
});
