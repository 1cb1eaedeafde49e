import request from 'supertest';
import { KEYS } from '../../src/store/keys';
import { createMetricsStore } from '../../src/store/ops/metrics';
import { createProcessStore } from '../../src/store/ops/processes';
import type { MetricSeries, ProcessStatus } from '../../src/workflow/ops/metrics-port';
import { type App } from '../support/app';
import { useApps } from './apps';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';

const redis = useRedis();
const { start, stop } = useApps(redis);

const list = ({ foundation }: App) => createProcessStore(foundation.redis).list();

function recentSeries({ foundation }: App): Promise<MetricSeries> {
  const toMs = Date.now() + 60_000;
  return createMetricsStore(foundation.redis).series({ fromMs: toMs - 900_000, toMs, stepMs: 60_000 });
}

test('every role records a heartbeat with its role, version and queues as soon as it starts', async () => {
  const app = await start('all');
  await start('receiver');
  await start('console');
  await start('worker');
  const found = await eventually(async () => {
    const processes = await list(app);
    expect(processes).toHaveLength(4);
    return processes;
  });
  expect(found.map(({ role, queues }) => [role, queues.map(({ name }) => name)])).toEqual([
    ['all', ['deliveries', 'reports', 'violations', 'runs', 'subscriptions']],
    ['console', []],
    ['receiver', []],
    ['worker', ['deliveries', 'reports', 'violations', 'runs', 'subscriptions']],
  ]);
  expect(new Set(found.map(({ processId }) => processId))).toEqual(new Set([process.pid]));
  expect(found.every(({ isSilent }) => !isSilent)).toBe(true);
  expect(found.every(({ startedAtMs }) => Math.abs(startedAtMs - Date.now()) < 60_000)).toBe(true);
  expect(found[0]?.nodeVersion).toBe(process.version);
  expect(found[0]?.version).toMatch(/^\d+\.\d+\.\d+/);
});

test('a process removes its heartbeat record on a graceful stop', async () => {
  const stays = await start('console');
  const goes = await start('receiver');
  await eventually(async () => expect(await list(stays)).toHaveLength(2));
  await stop(goes);
  expect((await list(stays)).map(({ role }) => role)).toEqual(['console']);
});

test.each(['evalsha', 'hgetall'] as const)(
  'after a heartbeat that failed at %s, the other processes are not known',
  async (command) => {
    const app = await start('console');
    const { redis: connection, heartbeatGaps } = app.foundation;
    await app.sendHeartbeat();
    expect(heartbeatGaps.areOthersKnown()).toBe(true);
    const run = jest.spyOn(connection, command).mockRejectedValue(new Error('Command timed out'));
    await expect(app.sendHeartbeat()).rejects.toThrow('Command timed out');
    run.mockRestore();
    expect(heartbeatGaps.areOthersKnown()).toBe(false);

    await app.sendHeartbeat();
    expect(heartbeatGaps.areOthersKnown()).toBe(false);
  },
);

test('a heartbeat names the readiness checks that fail', async () => {
  const app = await start('console');
  // A check that a busy machine makes slow fails, too.
  const untilListed = (expected: Pick<ProcessStatus, 'isReady' | 'problems'>) =>
    eventually(async () => {
      await app.sendHeartbeat();
      expect(await list(app)).toMatchObject([expected]);
    });
  await untilListed({ isReady: true, problems: [] });
  await redis.ask('SET', KEYS.spoolMarker, 'another spool');
  await untilListed({ isReady: false, problems: ['spool'] });
});

test('a worker heartbeat records when each queue last took work', async () => {
  const app = await start('worker');
  await app.sendHeartbeat();
  expect((await list(app))[0]?.queues.map(({ lastTookAtMs }) => lastTookAtMs)).toEqual([null, null, null, null, null]);
  await redis.ask('ZADD', KEYS.dueTows, '1', 'an unknown tow');
  await eventually(async () => {
    await app.sendHeartbeat();
    const [worker] = await list(app);
    const [deliveries, reports] = worker?.queues ?? [];
    expect(deliveries?.lastTookAtMs).toBeNull();
    expect(Math.abs((reports?.lastTookAtMs ?? 0) - (worker?.beatAtMs ?? 0))).toBeLessThan(60_000);
  });
});

test('a stalled worker is not ready and its heartbeat names the stalled queue', async () => {
  const app = await start('worker', { environment: { WORKER_STALLED_MS: '1000' } });
  // A job that does not exist occupies the only concurrency slot of the queue.
  await redis.ask('HSET', '{towhook-main}:reports:meta', 'concurrency', '1');
  await redis.ask('SET', '{towhook-main}:reports:zombie:lock', 'another worker');
  await redis.ask('LPUSH', '{towhook-main}:reports:active', 'zombie');
  await redis.ask('ZADD', KEYS.dueTows, '1', 'T1');
  await eventually(async () => {
    await app.sendHeartbeat();
    const [worker] = await list(app);
    expect(worker).toMatchObject({ isReady: false, problems: ['worker'] });
    expect(worker?.queues.map(({ isStalled }) => isStalled)).toEqual([false, true, false, false, false]);
  });
});

test('the metrics count an accepted and processed delivery and its duration', async () => {
  const app = await start('all');
  await request(app.receiverUrl)
    .post('/tow-request')
    .send({ towing_reference_id: 'T1', violation_reference_id: 'V1', metadata: { id: 'm1' } })
    .expect(200);
  await eventually(async () => {
    await app.sendHeartbeat();
    const { lines } = await recentSeries(app);
    const total = (name: keyof typeof lines) => lines[name].reduce<number>((sum, point) => sum + (point ?? 0), 0);
    expect(total('accepted.tow_request')).toBe(1);
    expect(total('processed.tow_request')).toBe(1);
    expect(total('processed.tow_invoice')).toBe(0);
    const [p95] = lines['delivery.p95'].filter((point) => point !== null);
    expect(p95).toBeGreaterThan(0);
    expect(p95).toBeLessThan(60_000);
  });
});

test('the metrics record backlog gauges once for several processes', async () => {
  const app = await start('console');
  await start('console');
  await redis.ask('ZADD', KEYS.dueTows, '1', 'T1', '2', 'T2');
  await redis.ask('ZADD', KEYS.openTasks, '1', 'a task');
  await eventually(async () => {
    await redis.ask('DEL', KEYS.metricsSampling);
    await app.sendHeartbeat();
    const { lines } = await recentSeries(app);
    const known = (name: keyof typeof lines) => lines[name].filter((point) => point !== null);
    expect(known('due.reports').at(-1)).toBe(2);
    expect(known('oldest.reports').at(-1)).toBeGreaterThan(1e12);
    expect([known('due.deliveries').at(-1), known('tasks').at(-1), known('held').at(-1)]).toEqual([0, 1, 0]);
  });
});
