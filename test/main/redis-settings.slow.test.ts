import request from 'supertest';
import { z } from 'zod';
import { UNREADABLE_PROBLEM } from '../../src/store/redis/redis-settings';
import { startApp, type AppOptions } from '../support/app';
import { eventually } from '../support/eventually';
import { startProcess } from '../support/process';
import { recordedLog } from '../support/recorded-log';
import { startTestRedis, useOwnRedis } from '../support/redis';

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
  'a process warns at the start and on /readyz when Redis runs with appendfsync %s',
  async (policy) => {
    await redis.ask('CONFIG', 'SET', 'appendfsync', policy);
    const warnings = await warningsOf();
    expect(warnings.ready).toEqual([expect.stringContaining(`appendfsync is ${policy}`)]);
    expect(warnings.logged).toEqual(['appendfsync']);
  },
);

test('a process warns when Redis does not sync its file while it rewrites it, and with REDIS_STRICT=true refuses it', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'always');
  await redis.ask('CONFIG', 'SET', 'no-appendfsync-on-rewrite', 'yes');
  try {
    const warnings = await warningsOf();
    expect(warnings.ready).toEqual([expect.stringContaining('no-appendfsync-on-rewrite is yes')]);
    expect(warnings.logged).toEqual(['no-appendfsync-on-rewrite']);
    await expect(warningsOf({ environment: { REDIS_STRICT: 'true' } })).rejects.toThrow(
      'REDIS_URL points to a Redis whose no-appendfsync-on-rewrite is yes',
    );
  } finally {
    await redis.ask('CONFIG', 'SET', 'no-appendfsync-on-rewrite', 'no');
  }
});

test('with REDIS_STRICT=true a process ends with exit code 2 on a Redis with appendfsync everysec', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'everysec');
  const started = await startProcess('receiver', { REDIS_URL: redis.url, REDIS_STRICT: 'true' });
  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('REDIS_URL points to a Redis whose appendfsync is everysec');
});

test('with REDIS_STRICT=true a process ends with exit code 2 on a replica that takes writes', async () => {
  const replica = await startTestRedis({ appendfsync: 'always', 'replica-read-only': 'no' });
  try {
    await replica.ask('REPLICAOF', '127.0.0.1', String(redis.port));
    const started = await startProcess('receiver', { REDIS_URL: replica.url, REDIS_STRICT: 'true' });
    await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
    expect(started.problems()).toContain('REDIS_URL points to a Redis whose role is replica');
  } finally {
    await replica.stop();
  }
});

test('with REDIS_STRICT=true a process waits for a Redis that is away, and works when it is back', async () => {
  const away = await startTestRedis({ appendfsync: 'always' });
  try {
    await away.kill();
    const started = await startProcess('receiver', { REDIS_URL: away.url, REDIS_STRICT: 'true' });
    await started.logged('process.started');
    const receiver = await started.url('receiver');
    await request(receiver).get('/readyz').expect(503);
    await away.start();
    await eventually(() => request(receiver).get('/readyz').expect(200));
  } finally {
    await away.stop();
  }
});

test('with REDIS_STRICT=true a process that waited for its Redis ends when that Redis has unsafe settings', async () => {
  const away = await startTestRedis({ appendfsync: 'everysec' });
  try {
    await away.kill();
    const started = await startProcess('receiver', { REDIS_URL: away.url, REDIS_STRICT: 'true' });
    await started.logged('process.started');
    await away.start();
    await expect(started.exited).resolves.toBe(1);
    const failed = started.log.filter(({ message }) => message === 'process.failed');
    expect(JSON.stringify(failed)).toContain('REDIS_URL points to a Redis whose appendfsync is everysec');
  } finally {
    await away.stop();
  }
});

test('a process ends with exit code 2 on a database that Redis does not have', async () => {
  const started = await startProcess('receiver', { REDIS_URL: `${redis.url}/99` });
  await expect(Promise.race([started.exited, started.logged('process.started')])).resolves.toBe(2);
  expect(started.problems()).toContain('REDIS_URL names a database that Redis refuses: ERR DB index is out of range');
});

test('with REDIS_STRICT=true a console starts without a warning on a Redis with appendfsync always', async () => {
  await redis.ask('CONFIG', 'SET', 'appendfsync', 'always');
  expect(await warningsOf({ environment: { REDIS_STRICT: 'true' } })).toEqual({ ready: [], logged: [] });
});

describe('a hosted Redis that shows neither its settings nor its state', () => {
  const hostedUrl = async () => {
    await redis.ask('ACL', 'SETUSER', 'hosted', 'on', '>password', '~*', '&*', '+@all', '-config', '-info');
    return redis.url.replace('://', '://hosted:password@');
  };

  test('is used, and the start and /readyz name each setting that cannot be read', async () => {
    const { ready } = await warningsOf({ redisUrl: await hostedUrl() });
    const settings = ['appendonly', 'appendfsync', 'no-appendfsync-on-rewrite', 'maxmemory-policy'];
    expect(ready).toEqual(settings.map((setting) => `${setting} ${UNREADABLE_PROBLEM}`));
  });

  test('is refused with REDIS_STRICT=true, and the refusal names REDIS_PERSISTENCE=trusted', async () => {
    const environment = { REDIS_STRICT: 'true' };
    await expect(warningsOf({ redisUrl: await hostedUrl(), environment })).rejects.toThrow(
      /^REDIS_URL points to a Redis whose appendonly cannot be read.* set REDIS_PERSISTENCE=trusted\n/,
    );
  });

  test('is used without a warning with REDIS_STRICT=true and REDIS_PERSISTENCE=trusted', async () => {
    const environment = { REDIS_STRICT: 'true', REDIS_PERSISTENCE: 'trusted' };
    expect(await warningsOf({ redisUrl: await hostedUrl(), environment })).toEqual({ ready: [], logged: [] });
  });
});

test('a process refuses a Redis Cluster and names what to use instead', async () => {
  const cluster = await startTestRedis({ 'cluster-enabled': 'yes' });
  try {
    await expect(warningsOf({ redisUrl: cluster.url })).rejects.toThrow(
      /^REDIS_URL points to a Redis Cluster.* Sentinels/,
    );
  } finally {
    await cluster.stop();
  }
});
