import request from 'supertest';
import { createProcessStore } from '../../src/store/ops/processes';
import { eventually } from '../support/eventually';
import { recordedLog } from '../support/recorded-log';
import { useOwnRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useOwnRedis();
const { start, stop } = useApps(redis);

test('a process survives a Redis outage, logs it once and resumes its heartbeat afterwards', async () => {
  const { log, lines } = recordedLog();
  const app = await start('console', { log });
  await eventually(async () => expect(await createProcessStore(app.foundation.redis).list()).toHaveLength(1));
  await redis.kill();
  await expect(app.sendHeartbeat()).rejects.toThrow(/closed|writeable|retries/);
  await eventually(() => expect(lines.filter(({ event }) => event === 'beat.failed')).toHaveLength(1), 60_000);
  await redis.start();
  await eventually(
    async () => expect(await createProcessStore(app.foundation.redis).list()).toMatchObject([{ isSilent: false }]),
    60_000,
  );
  await request(app.consoleUrl).get('/healthz').expect(200);
});

/** Below the 10 s after which container runtimes kill a process. */
const STOP_LIMIT_MS = 8000;

test('a process stops within 8 s while Redis is down', async () => {
  const app = await start('receiver');
  await redis.kill();
  const startedMs = performance.now();
  await stop(app);
  expect(performance.now() - startedMs).toBeLessThan(STOP_LIMIT_MS);
});
