import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFoundation, openLog, type Foundation } from '../../src/main/foundation';
import { startReceiver } from '../../src/main/receiver';
import { startConservation, startWorker } from '../../src/main/worker';
import { loadConfig } from '../../src/platform/config/config';
import { createConservationStore } from '../../src/store/ops/conservation';
import { KEYS } from '../../src/store/keys';
import { repeatConservationCheck, totalOf } from '../../src/workflow/ops/conservation';
import { AT_ONCE } from '../support/conservation';
import { eventually } from '../support/eventually';
import { useOwnRedis } from '../support/redis';
import { openStores, START } from '../support/stores';
import { buildTown, type Town } from '../support/town';
import { callsOf, requestTows } from './simulator-control';

jest.setTimeout(240_000);
const redis = useOwnRedis();
let town: Town;
let foundation: Foundation;
let receiverUrl = '';
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-conservation-'));
  town = await buildTown(redis.url, { webhookUrl: () => receiverUrl });
  const config = loadConfig({ ...town.environment, RECEIVER_PORT: '0' });
  foundation = await openFoundation({ config, log: openLog(config, join(folder, 'log')) });
  receiverUrl = (await startReceiver(foundation)).url;
});
afterEach(async () => {
  await foundation.resources.closeAll();
  await rm(folder, { recursive: true, force: true });
});

/** The log lines of an event. */
async function logged(event: string): Promise<string[]> {
  return (await readFile(join(folder, 'log'), 'utf8')).split('\n').filter((line) => line.includes(`"${event}"`));
}

/** Has the service request tows. Resolves with their references once their deliveries are acknowledged. */
async function acknowledgedTows(count: number): Promise<string[]> {
  const refs = await requestTows(town, { count });
  await eventually(async () => expect(await foundation.redis.zcard('{towhook-main}:index:deliveries')).toBe(count));
  return refs;
}

async function acceptedStartReports(): Promise<unknown[]> {
  return (await callsOf(town, 'started')).filter(({ status }) => status === 200).map(({ body }) => body);
}

/** Deletes the schedule and all jobs. */
async function deleteScheduleAndJobs(): Promise<void> {
  await foundation.redis.del(KEYS.dueDeliveries, KEYS.dueTows);
  for (const queue of Object.values(foundation.queues.byName)) await queue.obliterate({ force: true });
}

const lastScan = () => createConservationStore(foundation.redis).lastScan();

test('the conservation check finds records without a schedule entry and a job, logs them as lost, and a worker completes them', async () => {
  const [first = '', ...others] = await acknowledgedTows(5);
  const stores = await openStores(redis.url);
  const { items } = await stores.deliveries.list({ cursor: null, limit: 10 });
  const ofFirst = items.find(({ towingReferenceId }) => towingReferenceId === first);
  expect(await stores.process(ofFirst?.id ?? '')).toBe('created');
  await stores.say(first, START);
  await deleteScheduleAndJobs();

  startWorker(foundation, Promise.resolve(), { rebuildsOnce: false, onStall: () => {} });
  startConservation(foundation);

  await eventually(async () => expect(await acceptedStartReports()).toMatchObject([{ towing_reference_id: first }]));
  for (const ref of others) await eventually(async () => expect((await stores.read(ref)).tow.state).toBe('requested'));
  const scan = await eventually(async () => {
    const found = await lastScan();
    expect(found && totalOf(found)).toMatchObject({ acknowledged: 6, finished: 6, lost: 0, repaired: 0 });
    return found;
  });
  expect(scan?.lostNames).toEqual([]);
  expect(await foundation.redis.hlen('{towhook-main}:tasks')).toBe(0);
  const [line = '{}', ...more] = await logged('conservation.lost');
  expect(JSON.parse(line)).toMatchObject({ level: 'error', lost: 5, repaired: 5 });
  expect(line).toContain(`report ${first} 1`);
  expect(more).toEqual([]);
  stores.close();
});

test('a lost delivery is found by every conservation scan and logged once per minute', async () => {
  await acknowledgedTows(3);
  const [id = ''] = await foundation.redis.zrangebyscore('{towhook-main}:due:deliveries', '-inf', '+inf');
  await foundation.redis.del(`{towhook-main}:delivery:${id}`);

  const store = createConservationStore(foundation.redis, { ...AT_ONCE, scanIntervalMs: 1000 });
  const { clock, log } = foundation;
  const repetition = repeatConservationCheck({ store, clock, log });

  const ends = new Set<number>();
  await eventually(async () => {
    const found = await lastScan();
    if (found) ends.add(found.endedAtMs);
    expect(found?.lostNames).toEqual([`delivery ${id}`]);
    expect(ends.size).toBeGreaterThan(3);
  });
  await repetition.stop();
  const lines = await eventually(async () => {
    const all = await logged('conservation.lost');
    expect(all).not.toEqual([]);
    return all;
  });
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ lost: 1, repaired: 0, names: [`delivery ${id}`] });
});

test('conservation scans continue after Redis was down and end when they are stopped', async () => {
  await acknowledgedTows(3);
  const repetition = startConservation(foundation);
  const before = await eventually(async () => {
    const found = await lastScan();
    expect(found?.deliveries.acknowledged).toBe(3);
    return found;
  });
  await redis.kill();
  await eventually(async () => expect(await logged('conservation.failed')).not.toEqual([]));
  await redis.start();
  const after = await eventually(async () => {
    const found = await lastScan();
    expect(found?.endedAtMs).toBeGreaterThan(before?.endedAtMs ?? 0);
    return found;
  });
  expect(after?.deliveries).toMatchObject({ acknowledged: 3, waiting: 3, lost: 0 });

  await repetition.stop();

  const scanState = await foundation.redis.hgetall('{towhook-main}:check');
  await eventually(async () => {
    const [seconds] = await foundation.redis.time();
    expect(Number(seconds) * 1000).toBeGreaterThan(Number(scanState['next_at']) + 1000);
  });
  expect(await foundation.redis.hgetall('{towhook-main}:check')).toEqual(scanState);
});
