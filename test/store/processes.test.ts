import type { Redis } from 'ioredis';
import { silentLog } from '../../src/platform/log';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { KEYS } from '../../src/store/keys';
import { BEAT_SETTINGS, createProcessStore } from '../../src/store/processes';
import { eventually } from '../support/eventually';
import { beatingProcess, NOTHING } from '../support/processes';
import { useRedis } from '../support/redis';

const redis = useRedis();
let connection: Redis;

beforeEach(async () => {
  connection = connectFailFast(redis.url, { log: silentLog });
  await whenReady(connection, 5000);
});
afterEach(() => connection.disconnect());

const store = (settings: Partial<typeof BEAT_SETTINGS> = {}) =>
  createProcessStore(connection, { ...BEAT_SETTINGS, ...settings });
const ids = async () => (await store().list()).map(({ id }) => id);
/** As if the last beat had come so long ago. */
const age = (id: string, ms: number) => connection.zincrby(KEYS.processBeats, -ms, id);

test('a process is shown as it says it is, its moments by the time of Redis', async () => {
  const queues = [{ name: 'reports' as const, lastTookMs: 45_000, standsStill: true }];
  await store().beat(beatingProcess('p1', { role: 'worker', problems: ['spool'], queues }), NOTHING);
  const [standing] = await store().list();
  const { startedAtMs = 0, beatAtMs = 0 } = standing ?? {};
  expect(standing).toMatchObject({
    id: 'p1',
    role: 'worker',
    hostName: 'host-of-the-tests',
    processId: 17,
    version: '1.2.3',
    nodeVersion: 'v20.0.0',
    isSilent: false,
    isReady: false,
    problems: ['spool'],
    queues: [{ name: 'reports', lastTookAtMs: startedAtMs + 45_000, standsStill: true }],
  });
  expect(beatAtMs - startedAtMs).toBe(60_000);
});

test('when a process started stays as it was first told', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  const [first] = await store().list();
  await store().beat({ ...beatingProcess('p1', { problems: ['worker'] }), uptimeMs: 70_000 }, NOTHING);
  const [second] = await store().list();
  expect(second?.startedAtMs).toBe(first?.startedAtMs);
  expect(second?.problems).toEqual(['worker']);
});

test('a process whose beats stay out is silent after 20 s, and speaks again with the next', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await age('p1', 15_000);
  expect(await store().list()).toMatchObject([{ isSilent: false }]);
  await age('p1', 6000);
  expect(await store().list()).toMatchObject([{ isSilent: true, isReady: true }]);
  await store().beat(beatingProcess('p1'), NOTHING);
  expect(await store().list()).toMatchObject([{ isSilent: false }]);
});

test('one that is silent for an hour is dropped by the others, and leaves nothing behind', async () => {
  await store().beat(beatingProcess('dead'), NOTHING);
  await age('dead', 3_700_000);
  expect(await ids()).toEqual([]);
  await store().beat(beatingProcess('alive'), NOTHING);
  expect(await connection.hkeys(KEYS.processes)).toEqual(['alive']);
  expect(await connection.zrange(KEYS.processBeats, '0', '-1')).toEqual(['alive']);
});

test('one that was frozen for longer than that comes back as the one it was', async () => {
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

test('one that stops takes itself out', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await store().beat(beatingProcess('p2'), NOTHING);
  await store().leave('p1', NOTHING);
  expect(await ids()).toEqual(['p2']);
  expect(await connection.hkeys(KEYS.processes)).toEqual(['p2']);
});

test('what a version of another time says of itself hides no other process', async () => {
  await store().beat(beatingProcess('p1'), NOTHING);
  await connection.hset(KEYS.processes, 'p2', '1800000000000 {"role":"oracle"}', 'p3', 'nothing like it');
  await connection.zadd(KEYS.processBeats, 9e12, 'p2', 9e12, 'p3');
  expect(await ids()).toEqual(['p1']);
});

test('an idle process writes nothing but the moment of its beat', async () => {
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
