import { startProcess } from '../support/process';
import { useRedis } from '../support/redis';

const redis = useRedis();

/** Far less than it would take to be killed by whoever runs the process. */
const LIMIT_MS = 8000;

test.each([
  ['is down', () => redis.kill()],
  ['does not answer', async () => redis.freeze()],
])('a worker that is told to stop while Redis %s stops in good order and soon', async (_what, takeAway) => {
  const worker = await startProcess('worker', {
    REDIS_URL: redis.url,
    SERVICE_BASE_URL: 'http://127.0.0.1:1/parking',
    SERVICE_CLIENT_ID: 'client',
    SERVICE_CLIENT_SECRET: 'secret',
    STOP_GRACE_MS: '500',
  });
  await worker.logged('process.started');
  // Whoever answers after that line listens for signals too.
  await fetch(`${await worker.url('ops')}/healthz`);
  await takeAway();

  const toldAtMs = performance.now();
  worker.kill('SIGTERM');

  expect(await worker.exited).toBe(0);
  expect(performance.now() - toldAtMs).toBeLessThan(LIMIT_MS);
  expect(worker.log.at(-1)).toMatchObject({ message: 'process.stopped' });
});
