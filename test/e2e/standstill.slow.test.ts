import { z } from 'zod';
import { simulatorOrders } from '../../src/contracts/simulator';
import { createOperatorClient, type OperatorClient } from '../../src/main/demo/client';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/process';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';

jest.setTimeout(90_000);
const redis = useRedis();

const STANDSTILL = { WORKER_STANDSTILL_MS: '3000', STOP_GRACE_MS: '500' };
const PLACE = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

/** A job that does not exist fills the only place there is: from then on no worker is given a report to send. */
async function blockReports(): Promise<void> {
  await redis.ask('HSET', '{p0}:reports:meta', 'concurrency', '1');
  await redis.ask('SET', '{p0}:reports:zombie:lock', 'nobody');
  await redis.ask('LPUSH', '{p0}:reports:active', 'zombie');
}

async function unblockReports(): Promise<void> {
  await redis.ask('HDEL', '{p0}:reports:meta', 'concurrency');
  await redis.ask('DEL', '{p0}:reports:zombie:lock');
  await redis.ask('LREM', '{p0}:reports:active', '0', 'zombie');
}

/** A tow that is known and not started. */
async function orderTow(town: Town, client: OperatorClient): Promise<string> {
  const response = await fetch(`${town.simulator.url}/simulator/tow-requests`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  const [tow] = simulatorOrders.parse(await response.json()).items;
  const ref = tow?.towing_reference_id ?? '';
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  return ref;
}

async function start(client: OperatorClient, ref: string): Promise<void> {
  await client.say(ref, 'started', { plate_number: 'ABC 1', ...PLACE });
}

async function isAccepted(client: OperatorClient, ref: string): Promise<void> {
  await eventually(async () => expect((await client.tow(ref))?.reports[0]?.state).toBe('accepted'), 30_000);
}

const readiness = z.looseObject({ status: z.string(), worker: z.string(), standing_part: z.string().optional() });

async function ready(worker: RoleProcess) {
  const response = await fetch(`${await worker.url('ops')}/readyz`);
  return { httpStatus: response.status, ...readiness.parse(await response.json()) };
}

async function isNotReady(worker: RoleProcess): Promise<void> {
  const notReady = await eventually(async () => {
    const found = await ready(worker);
    expect(found.httpStatus).toBe(503);
    return found;
  }, 30_000);
  expect(notReady).toMatchObject({ status: 'not_ready', worker: 'standing_still', standing_part: 'reports' });
}

test('a worker that stands still is not ready, then ends with 3, and the next one finishes what waited', async () => {
  const town = await buildTown(redis.url);
  await town.start('receiver');
  const client = createOperatorClient(await (await town.start('console')).url('console'), API_KEY);
  const worker = await town.start('worker', STANDSTILL);
  const ref = await orderTow(town, client);
  expect((await ready(worker)).httpStatus).toBe(200);
  await blockReports();
  await start(client, ref);

  await isNotReady(worker);
  expect(await worker.exited).toBe(3);
  expect(worker.log.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['worker.stood_still', 'process.stopping', 'process.stopped']),
  );

  await unblockReports();
  const heir = await town.start('worker', STANDSTILL);
  await isAccepted(client, ref);
  expect((await ready(heir)).httpStatus).toBe(200);
});

test('in the role all a worker that stands still is built anew, as often as need be, and nothing else ends', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', STANDSTILL);
  const client = createOperatorClient(await all.url('console'), API_KEY);
  const ref = await orderTow(town, client);
  await blockReports();
  await start(client, ref);
  await isNotReady(all);

  const rebuilt = () => all.log.filter(({ message }) => message === 'worker.rebuilt');
  await eventually(() => expect(rebuilt().length).toBeGreaterThanOrEqual(2), 30_000);
  // Until it has proved itself a worker built anew is not ready.
  expect((await ready(all)).httpStatus).toBe(503);
  await unblockReports();

  await isAccepted(client, ref);
  await start(client, await orderTow(town, client));
  await eventually(async () => expect((await ready(all)).httpStatus).toBe(200));
  expect(rebuilt().every(({ closed }) => closed === true)).toBe(true);
  all.kill('SIGTERM');
  expect(await all.exited).toBe(0);
});

test('of two workers with little to do neither is taken for dead: what one hands out the other may do', async () => {
  const town = await buildTown(redis.url);
  await town.start('receiver');
  const client = createOperatorClient(await (await town.start('console')).url('console'), API_KEY);
  const workers = await Promise.all(
    [1, 2].map(() => town.start('worker', { ...STANDSTILL, WORKER_STANDSTILL_MS: '1000' })),
  );
  const untilMs = performance.now() + 6000;
  let tows = 0;
  for (; performance.now() < untilMs; tows += 1) {
    const ref = await orderTow(town, client);
    await start(client, ref);
    await isAccepted(client, ref);
    for (const worker of workers) expect(await ready(worker)).toMatchObject({ httpStatus: 200, worker: 'progressing' });
  }

  expect(tows).toBeGreaterThan(5);
  const events = workers.flatMap(({ log }) => log.map(({ message }) => message));
  expect(events).not.toContain('worker.stood_still');
  for (const worker of workers) worker.kill('SIGTERM');
  expect(await Promise.all(workers.map(({ exited }) => exited))).toEqual([0, 0]);
});
