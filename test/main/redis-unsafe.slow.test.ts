import request from 'supertest';
import { messagesIn } from '../../src/console/messages';
import { signedIn, textOf } from '../console/visitor';
import { eventually } from '../support/eventually';
import { readMetricsText } from '../support/metrics-text';
import { recordedLog } from '../support/recorded-log';
import { startTestRedis, useOwnRedis } from '../support/redis';
import { useApps } from './apps';

const redis = useOwnRedis();
const { start, stop } = useApps(redis);
const alarms = messagesIn('en').opsAlarms.redisUnsafe;

test.each([
  ['appendonly', 'no', 'yes'],
  ['maxmemory-policy', 'allkeys-lru', 'noeviction'],
] as const)(
  'a running process logs that Redis was set to %s %s, raises an alarm with the remedy, and ends it',
  async (setting, unsafe, safe) => {
    const { log, lines } = recordedLog();
    const app = await start('all', { log });
    const visitor = await signedIn(app);
    const opsPage = async () => textOf((await visitor.get('/ops')).html);
    const gauge = async () => {
      const { text } = await request(app.opsUrl).get('/metrics').expect(200);
      const series = readMetricsText(text).find(({ name }) => name === 'towhook_redis_unsafe');
      return series?.samples.find(({ labels }) => labels['setting'] === setting)?.value;
    };
    const logged = (event: string) => lines.filter((line) => line.event === event && line['setting'] === setting);
    const { title, todo } = alarms[setting];
    expect(await opsPage()).not.toContain(title);
    await eventually(async () => expect(await gauge()).toBe(0));

    await redis.ask('CONFIG', 'SET', setting, unsafe);
    // No page is open: the process finds it itself.
    await eventually(() => expect(logged('redis.unsafe')).toHaveLength(1));
    expect(await opsPage()).toContain(title);
    expect(await opsPage()).toContain(todo);
    await eventually(async () => expect(await gauge()).toBe(1));

    await redis.ask('CONFIG', 'SET', setting, safe);
    await eventually(() => expect(logged('redis.setting_corrected')).toHaveLength(1));
    expect(await opsPage()).not.toContain(title);
    await eventually(async () => expect(await gauge()).toBe(0));
    expect(logged('redis.unsafe')).toHaveLength(1);
  },
);

test('a process is not ready and raises an alarm while its Redis is a replica that takes writes', async () => {
  const replica = await startTestRedis({ 'replica-read-only': 'no' });
  const app = await start('all', { redisUrl: replica.url });
  try {
    const readyz = async (url: string) => {
      const { status, text } = await request(url).get('/readyz');
      return [status, JSON.parse(text)] as unknown;
    };
    const visitor = await signedIn(app);
    await eventually(async () => expect(await readyz(app.receiverUrl)).toMatchObject([200, { redis: 'reachable' }]));

    // There is no such master: the replica keeps its data.
    await replica.ask('REPLICAOF', '127.0.0.1', '1');
    for (const url of [app.receiverUrl, app.opsUrl, app.consoleUrl])
      await eventually(async () => expect(await readyz(url)).toMatchObject([503, { redis: 'replica' }]));
    expect(textOf((await visitor.get('/ops')).html)).toContain(alarms.role.title);

    await replica.ask('REPLICAOF', 'NO', 'ONE');
    await eventually(async () => expect(await readyz(app.receiverUrl)).toMatchObject([200, { redis: 'reachable' }]));
  } finally {
    await stop(app);
    await replica.stop();
  }
});

test('a process that started while Redis was away logs the unsafe settings of the Redis that it finds later', async () => {
  const unsafe = await startTestRedis({ appendonly: 'no' });
  try {
    await unsafe.kill();
    const { log, lines } = recordedLog();
    await start('console', { redisUrl: unsafe.url, log });
    expect(lines.map(({ event }) => event)).toContain('redis.unreachable');
    await unsafe.start();
    await eventually(() =>
      expect(lines).toContainEqual(expect.objectContaining({ event: 'redis.unsafe', setting: 'appendonly' })),
    );
  } finally {
    await unsafe.stop();
  }
});
