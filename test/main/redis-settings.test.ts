import request from 'supertest';
import { z } from 'zod';
import { startApp, type AppOptions } from '../support/app';
import { startProcess } from '../support/process';
import { recordedLog } from '../support/recorded-log';
import { useOwnRedis } from '../support/redis';

jest.setTimeout(90_000);
const redis = useOwnRedis();

const readiness = z.looseObject({ redis_warnings: z.array(z.string()) });

/** Starts the console on this Redis; returns the warnings of /readyz and those of its log. */
async function warningsOf(options: Partial<AppOptions> = {}): Promise<{ ready: string[]; logged: unknown[] }> {
  const { log, lines } = recordedLog();
  const app = await startApp({ redisUrl: redis.url, role: 'console', log, ...options });
  try {
    const response = await request(app.consoleUrl).get('/readyz').expect(200);
    const logged = lines.filter(({ event }) => event === 'redis.unsafe').map(({ setting }) => setting);
    return { ready: readiness.parse(response.body).redis_warnings, logged };
  } finally {
    await app.stop();
  }
}

test.each(['everysec', 'no'])(
  'warns at the start and on /readyz that Redis runs with appendfsync %s',
  async (policy) => {
    await redis.ask('CONFIG', 'SET', 'appendfsync', policy);
    const warnings = await warningsOf();
    expect(warnings.ready).toEqual([expect.stringContaining(`appendfsync is ${policy}`)]);
    expect(warnings.logged).toEqual(['appendfsync']);
  },
);

test('with REDIS_STRICT=true a process ends with exit code 2 on a Redis with appendfsync everysec', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'everysec');
  const started = await startProcess('receiver', { REDIS_URL: redis.url, REDIS_STRICT: 'true' });
  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('REDIS_URL points to a Redis whose appendfsync is everysec');
});

test('with REDIS_STRICT=true a console starts without a warning on a Redis with appendfsync always', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'always');
  expect(await warningsOf({ environment: { REDIS_STRICT: 'true' } })).toEqual({ ready: [], logged: [] });
});

test('with REDIS_STRICT=true a console starts on a Redis that does not let it read appendfsync', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'everysec');
  await redis.ask('ACL', 'SETUSER', 'hosted', 'on', '>password', '~*', '&*', '+@all', '-config');
  const redisUrl = redis.url.replace('://', '://hosted:password@');
  expect(await warningsOf({ redisUrl, environment: { REDIS_STRICT: 'true' } })).toEqual({ ready: [], logged: [] });
});
