import type { Redis } from 'ioredis';
import { COUNTERS, LATENCIES, LATENCY_STEPS_MS, GAUGES } from '../../src/domain/ops/metric-names';
import { MINUTE_MS } from '../../src/domain/timestamp';
import { whenReady } from '../../src/store/redis/connect';
import { createMetricsStore } from '../../src/store/ops/metrics';
import { createProcessStore } from '../../src/store/ops/processes';
import type { SeriesName } from '../../src/contracts/ops/metrics';
import { openConnection, useConnection, useRedis } from '../support/redis';
import { beatingProcess, NOTHING } from '../support/processes';
import { startWire } from '../support/wire';

const redis = useRedis();
let connection: Redis;
useConnection(redis, (opened) => {
  connection = opened;
});

const add = (by: Record<string, number>, over = connection) =>
  createProcessStore(over).beat(beatingProcess('p1'), { added: by, highest: {} });
const level = (highest: Record<string, number>) =>
  createProcessStore(connection).beat(beatingProcess('p1'), { added: {}, highest });

/** The last quarter of an hour as Redis tells the time, up to now. */
async function lately(stepMs = MINUTE_MS) {
  const [seconds] = await connection.time();
  const toMs = Number(seconds) * 1000 + 1000;
  return createMetricsStore(connection).series({ fromMs: toMs - 15 * MINUTE_MS, toMs, stepMs });
}

/** All of a line that is known; summed, as a test may run over the end of a minute. */
async function sumOf(line: SeriesName): Promise<number> {
  const { lines } = await lately();
  return lines[line].reduce<number>((sum, point) => sum + (point ?? 0), 0);
}

const bucketKeys = async () => (await connection.keys('{towhook-main}:figures:*')).toSorted();

test('the counters of all processes are added up in the minute of the Redis clock', async () => {
  await Promise.all([add({ 'accepted.tow_request': 2 }), add({ 'accepted.tow_request': 3, 'delivered.invoice': 1 })]);
  expect(await sumOf('accepted.tow_request')).toBe(5);
  expect(await sumOf('delivered.invoice')).toBe(1);
  const { lines, atMs, completeUntilMs } = await lately();
  expect(atMs.at(-1)).toBe(completeUntilMs);
  expect(lines['accepted.tow_request'].slice(0, -2)).toEqual(Array<null>(atMs.length - 2).fill(null));
});

test('each minute of the metrics keeps the highest gauge value of all processes', async () => {
  for (const due of [3, 10, 9]) await level({ 'due.reports': due });
  const { lines } = await lately(15 * MINUTE_MS);
  expect(Math.max(...lines['due.reports'].map((point) => point ?? 0))).toBe(10);
});

test('a heartbeat without counts records 0 for its minute instead of a gap', async () => {
  await add({});
  const { lines } = await lately();
  expect(lines['delivered.started'].some((point) => point === 0)).toBe(true);
  expect(lines['delivered.started'].some((point) => point === null)).toBe(true);
});

test('counters whose write lost its reply are not counted again', async () => {
  const wire = await startWire(redis.port);
  const lossy = await openConnection(`redis://127.0.0.1:${wire.port}`);
  try {
    await add({}, lossy);
    wire.loseNextReply();
    await expect(add({ 'delivered.started': 1 }, lossy)).rejects.toThrow(/closed|retries/);
    expect(wire.lost()).toBe(1);
    await whenReady(lossy, 5000);
    await add({}, lossy);
    expect(await sumOf('delivered.started')).toBe(1);
  } finally {
    lossy.disconnect();
    await wire.stop();
  }
});

test('the counters of a process that stops are kept', async () => {
  await createProcessStore(connection).leave('p1', { added: { 'processed.tow_invoice': 7 }, highest: {} });
  expect(await sumOf('processed.tow_invoice')).toBe(7);
});

test('each minute of metrics expires after 48 hours, and later heartbeats do not extend it', async () => {
  await add({ 'accepted.tow_request': 1 });
  const [key = ''] = await bucketKeys();
  expect(await connection.ttl(key)).toBeGreaterThan(172_790);
  await connection.expire(key, 100);
  await add({ 'accepted.tow_request': 1 });
  const ttls = await Promise.all((await bucketKeys()).map((each) => connection.ttl(each)));
  expect(Math.min(...ttls)).toBeLessThanOrEqual(100);
});

test('a minute of metrics with every name and large numbers takes less than 3 KB', async () => {
  const names = [...COUNTERS, ...LATENCIES.flatMap((latency) => steps(latency))];
  await createProcessStore(connection).beat(beatingProcess('p1'), {
    added: Object.fromEntries(names.map((name) => [name, 1_000_000])),
    highest: Object.fromEntries(GAUGES.map((name) => [name, 1_000_000])),
  });
  const [key = ''] = await bucketKeys();
  expect(await connection.hlen(key)).toBe(names.length + GAUGES.length + 1);
  expect(Number(await redis.ask('MEMORY', 'USAGE', key))).toBeLessThan(3072);
});

const steps = (latency: string) => [...LATENCY_STEPS_MS, Infinity].map((_, step) => `${latency}.${step}`);

test.each([
  ['a step that is no whole number of minutes', { stepMs: 90_000 }],
  ['a step of nothing', { stepMs: 0 }],
  ['an empty range', { toMs: 0 }],
  ['a range longer than figures are kept', { toMs: 3 * 86_400_000 }],
])('a metrics query with %s is refused', async (_what, wrong) => {
  const range = { fromMs: 0, toMs: MINUTE_MS, stepMs: MINUTE_MS, ...wrong };
  await expect(createMetricsStore(connection).series(range)).rejects.toThrow(RangeError);
});

test('one process at a time records the backlog gauges', async () => {
  const store = createProcessStore(connection, { silentAfterMs: 1000, dropAfterMs: 1000, sampleEveryMs: 3_600_000 });
  const answers = await Promise.all(['p1', 'p2', 'p3'].map((id) => store.beat(beatingProcess(id), NOTHING)));
  expect(answers.filter(({ maySample }) => maySample)).toHaveLength(1);
});
