import type { Redis } from 'ioredis';
import { KEYS } from '../../src/store/keys';
import { HEARTBEAT_SETTINGS, createProcessStore } from '../../src/store/ops/processes';
import { eventually } from '../support/eventually';
import { beatingProcess, NOTHING } from '../support/processes';
import { useConnection, useRedis } from '../support/redis';

const redis = useRedis();
let connection: Redis;
useConnection(redis, (opened) => {
  connection = opened;
});

const store = (settings: Partial<typeof HEARTBEAT_SETTINGS> = {}) =>
  createProcessStore(connection, { ...HEARTBEAT_SETTINGS, ...settings });
const ids = async () => (await store().list()).map(({ id }) => id);
/** As if the last beat had come so long ago. */
const age = (id: string, ms: number) => connection.zincrby(KEYS.heartbeats, -ms, id);

test('a process is listed with its own data and with timestamps in Redis time', async () => {
  const queues = [{ name: 'reports' as const, lastTookMs: 45_000, isStalled: true }];
  await store().beat(beatingProcess('p1', { role: 'worker', problems: ['spool'], queues }), NOTHING);
  const [listed] = await store().list();
  const { startedAtMs = 0, beatAtMs = 0 } = listed ?? {};
  expect(listed).toMatchObject({
    id: 'p1',
    role: 'worker',
    hostName: 'host-of-the-tests',
    processId: 17,
    version: '1.2.3',
    nodeVersion: 'v20.0.0',
    isSilent: false,
    isReady: false,
    problems: ['spool'],
    queues: [{ name: 'reports', lastTookAtMs: startedAtMs + 45_000, isStalled: true }],
  });
  expect(beatAtMs - startedAtMs).toBe(60_000);
});

test('the start time of a process does not change after its first heartbeat', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  const [first] = await store().list();
  await store().beat({ ...beatingProcess('p1', { problems: ['worker'] }), uptimeMs: 70_000 }, NOTHING);
  const [second] = await store().list();
  expect(second?.startedAtMs).toBe(first?.startedAtMs);
  expect(second?.problems).toEqual(['worker']);
});

test('a process without heartbeats is silent after 20 s, until its next heartbeat', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await age('p1', 10_000);
  expect(await store().list()).toMatchObject([{ isSilent: false }]);
  await age('p1', 11_000);
  expect(await store().list()).toMatchObject([{ isSilent: true, isReady: true }]);
  await store().beat(beatingProcess('p1'), NOTHING);
  expect(await store().list()).toMatchObject([{ isSilent: false }]);
});

test('a process that is silent for an hour is removed completely by the heartbeats of others', async () => {
  await store().beat(beatingProcess('dead'), NOTHING);
  await age('dead', 3_700_000);
  expect(await ids()).toEqual([]);
  await store().beat(beatingProcess('alive'), NOTHING);
  expect(await connection.hkeys(KEYS.processes)).toEqual(['alive']);
  expect(await connection.zrange(KEYS.heartbeats, '0', '-1')).toEqual(['alive']);
});

test('a process that was frozen for over an hour returns under its own id', async () => {
  const quick = store({ dropAfterMs: 50 });
  await quick.beat(beatingProcess('frozen'), NOTHING);
  await eventually(async () => {
    await quick.beat(beatingProcess('other'), NOTHING);
    expect(await connection.hkeys(KEYS.processes)).toEqual(['other']);
  });
  await quick.beat({ ...beatingProcess('frozen'), uptimeMs: 9_000_000 }, NOTHING);
  const [found] = (await store().list()).filter(({ id }) => id === 'frozen');
  expect((found?.beatAtMs ?? 0) - (found?.startedAtMs ?? 0)).toBe(9_000_000);
});

test('a process that stops removes itself', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await store().beat(beatingProcess('p2'), NOTHING);
  await store().leave('p1', NOTHING);
  expect(await ids()).toEqual(['p2']);
  expect(await connection.hkeys(KEYS.processes)).toEqual(['p2']);
});

test('an unreadable document of another version hides no other process', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await connection.hset(KEYS.processes, 'p2', '1800000000000 {"role":"oracle"}', 'p3', 'nothing like it');
  await connection.zadd(KEYS.heartbeats, 9e12, 'p2', 9e12, 'p3');
  expect(await ids()).toEqual(['p1']);
});

test('an idle process writes only the time of its heartbeat', async () => {
  const changes = async () => Number(/^rdb_changes_since_last_save:(\d+)/m.exec(await connection.info())?.[1]);
  const beat = async () => {
    const before = await changes();
    await store().beat(beatingProcess('p1'), NOTHING);
    return (await changes()) - before;
  };
  expect(await beat()).toBeGreaterThan(1);
  // One of them may be the first of a minute, and two in one millisecond are the same moment.
  expect(Math.min(await beat(), await beat())).toBeLessThanOrEqual(1);
});
