import request from 'supertest';
import { inTime } from '../support/eventually';
import { startProcess } from '../support/process';
import { useOwnRedis } from '../support/redis';

const redis = useOwnRedis();

/** Below the 10 s after which container runtimes kill a process that got SIGTERM. */
const LIMIT_MS = 8000;

test.each([
  ['is down', () => redis.kill()],
  ['does not answer', async () => redis.freeze()],
])('a worker stops gracefully within 8 s of SIGTERM while Redis %s', async (_outage, begin) => {
  const worker = await inTime(LIMIT_MS, async (startClock) => {
    redis.thaw();
    await redis.start();
    const started = await startProcess('worker', {
      REDIS_URL: redis.url,
      SERVICE_BASE_URL: 'http://127.0.0.1:1/parking',
      SERVICE_CLIENT_ID: 'client',
      SERVICE_CLIENT_SECRET: 'secret',
      STOP_GRACE_MS: '500',
    });
    await started.logged('process.started');
    // An answer after that log line shows that the signal handlers are installed.
    await request(await started.url('ops')).get('/healthz');
    await begin();

    startClock();
    started.kill('SIGTERM');

    expect(await started.exited).toBe(0);
    return started;
  });
  expect(worker.log.at(-1)).toMatchObject({ message: 'process.stopped' });
});
