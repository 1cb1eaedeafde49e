import request from 'supertest';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

/** Below the 10 s after which container runtimes kill a process that got SIGTERM. */
const LIMIT_MS = 8000;

test.each([
  ['is down', () => redis.kill()],
  ['does not answer', async () => redis.freeze()],
])('a worker stops gracefully within 8 s of SIGTERM while Redis %s', async (_outage, begin) => {
  const worker = await startProcess('worker', {
    REDIS_URL: redis.url,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/parking',
    SERVICE_CLIENT_ID: 'client',
    SERVICE_CLIENT_SECRET: 'secret',
    STOP_GRACE_MS: '500',
  });
  await worker.logged('process.started');
  // An answer after that log line shows that the signal handlers are installed.
  await request(await worker.url('ops')).get('/healthz');
  await begin();

  const signalledAtMs = performance.now();
  worker.kill('SIGTERM');

  expect(await worker.exited).toBe(0);
  expect(performance.now() - signalledAtMs).toBeLessThan(LIMIT_MS);
  expect(worker.log.at(-1)).toMatchObject({ message: 'process.stopped' });
});
