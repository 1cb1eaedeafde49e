import { KEYS } from '../../src/store/keys';
import { startApp } from '../support/app';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';

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
  expect(started.problems()).toContain(
    'data of schema 7, and this version of towhook has schema 1: start the version that wrote it',
  );
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

test('a running process ends when a migration makes the data unusable for it', async () => {
  const started = await startProcess('receiver', { REDIS_URL: redis.url });
  await started.logged('process.started');

  await redis.ask('SET', KEYS.schemaVersion, '2');

  expect(await started.exited).toBe(1);
  expect(started.log).toContainEqual(expect.objectContaining({ message: 'process.failed' }));
});

test('a fault while a process stops is logged, and the process still stops gracefully', async () => {
  const started = await startProcess('receiver', { REDIS_URL: redis.url, STOP_DELAY_MS: '12000' });
  await started.logged('process.started');
  started.kill('SIGTERM');
  await started.logged('process.stopping');

  // Within 5 s this is a fault.
  await redis.ask('SET', KEYS.schemaVersion, '2');
  await started.logged('process.failed');

  expect(await started.exited).toBe(0);
  expect(started.log).toContainEqual(expect.objectContaining({ message: 'process.stopped' }));
});

test('a process ends with exit code 2 on a Redis whose restore is not complete, and names the restore', async () => {
  await redis.ask('SET', KEYS.schemaVersion, 'being restored: an-id');

  const started = await startProcess('receiver', { REDIS_URL: redis.url });

  expect(await started.exited).toBe(2);
  expect(started.problems()).toContain('a restore into this Redis is running or was interrupted');
  expect(await redis.ask('GET', KEYS.schemaVersion)).toBe('being restored: an-id');
});
