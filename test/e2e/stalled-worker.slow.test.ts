import { z } from 'zod';
import { createOperatorClient, type OperatorClient } from '../../src/demo/client';
import { eventually } from '../support/eventually';
import type { RoleProcess } from '../support/role-process';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';
import { requestTow } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** A part of a worker is stalled after 3 s; the worker is checked every 0.6 s. Closing it may take up to 25 s. */
const STALLED_AFTER_3_S = { WORKER_STALLED_MS: '3000', STOP_GRACE_MS: '20000' };
const PLACE = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };

/** Occupies the only slot of the queue `reports` with a job that does not exist, so that no worker receives a report. */
async function blockReports(): Promise<void> {
  await redis.ask('HSET', '{towhook-main}:reports:meta', 'concurrency', '1');
  await redis.ask('SET', '{towhook-main}:reports:zombie:lock', 'no-worker');
  await redis.ask('LPUSH', '{towhook-main}:reports:active', 'zombie');
}

async function unblockReports(): Promise<void> {
  await redis.ask('HDEL', '{towhook-main}:reports:meta', 'concurrency');
  await redis.ask('DEL', '{towhook-main}:reports:zombie:lock');
  await redis.ask('LREM', '{towhook-main}:reports:active', '0', 'zombie');
}

/** Records a fact while the queue is paused, and blocks its job. */
async function startBlocked(client: OperatorClient, ref: string): Promise<void> {
  await redis.ask('HSET', '{towhook-main}:reports:meta', 'paused', '1');
  await start(client, ref);
  await blockReports();
  await redis.ask('HDEL', '{towhook-main}:reports:meta', 'paused');
}

/** Has the service request a tow; resolves once the tow is known. */
async function requestKnownTow(town: Town, client: OperatorClient): Promise<string> {
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  return ref;
}

async function start(client: OperatorClient, ref: string): Promise<void> {
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...PLACE });
}

async function expectAccepted(client: OperatorClient, ref: string): Promise<void> {
  await eventually(async () => expect((await client.tow(ref))?.reports[0]?.state).toBe('accepted'), 60_000);
}

const readiness = z.looseObject({
  status: z.string(),
  worker: z.string(),
  stalled_part: z.string().optional(),
  redis: z.string(),
});

async function ready(worker: RoleProcess) {
  const response = await fetch(`${await worker.url('ops')}/readyz`);
  return { httpStatus: response.status, ...readiness.parse(await response.json()) };
}

async function expectStalled(worker: RoleProcess): Promise<void> {
  const expected = { httpStatus: 503, status: 'not_ready', worker: 'stalled', stalled_part: 'reports' };
  await eventually(async () => expect(await ready(worker)).toMatchObject(expected));
}

const untilReady = (worker: RoleProcess) => eventually(async () => expect((await ready(worker)).httpStatus).toBe(200));

/** The readiness at a time at which Redis answers: on a busy machine a single answer may come too late. */
const readyWithRedis = (worker: RoleProcess) =>
  eventually(async () => {
    const found = await ready(worker);
    expect(found.redis).not.toBe('unreachable');
    return found;
  });

test('a stalled worker becomes not ready and exits with code 3, and the next worker finishes its work', async () => {
  const town = await buildTown(redis.url);
  const [worker, console] = await Promise.all([
    // It is checked every 1.2 s, and it exits at the check after the one that makes it not ready.
    town.start('worker', { ...STALLED_AFTER_3_S, WORKER_STALLED_MS: '6000' }),
    town.start('console'),
    town.start('receiver'),
  ]);
  const client = createOperatorClient(await console.url('console'), API_KEY);
  const ref = await requestKnownTow(town, client);
  await untilReady(worker);
  await startBlocked(client, ref);

  await expectStalled(worker);
  expect(await worker.exited).toBe(3);
  expect(worker.log.map(({ message }) => message)).toEqual(
    expect.arrayContaining(['worker.stalled', 'process.stopping', 'process.stopped']),
  );

  await unblockReports();
  const next = await town.start('worker', STALLED_AFTER_3_S);
  await expectAccepted(client, ref);
  await untilReady(next);
});

test('in the role all a stalled worker is rebuilt once, and the process keeps running when it makes progress', async () => {
  const town = await buildTown(redis.url);
  // Long enough that the test can remove the cause between the rebuilding and the end.
  const all = await town.start('all', { ...STALLED_AFTER_3_S, WORKER_STALLED_MS: '10000' });
  const client = createOperatorClient(await all.url('console'), API_KEY);
  const ref = await requestKnownTow(town, client);
  await startBlocked(client, ref);
  await expectStalled(all);

  const rebuilt = await all.logged('worker.rebuilt');
  expect(rebuilt).toMatchObject({ closed: true });
  // A rebuilt worker is not ready before it has completed a job.
  expect((await ready(all)).httpStatus).toBe(503);
  await unblockReports();

  await expectAccepted(client, ref);
  await start(client, await requestKnownTow(town, client));
  await untilReady(all);
  all.kill('SIGTERM');
  expect(await all.exited).toBe(0);
});

test('in the role all a worker that stalls after its rebuilding ends the process with code 3', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', STALLED_AFTER_3_S);
  const client = createOperatorClient(await all.url('console'), API_KEY);
  await startBlocked(client, await requestKnownTow(town, client));

  expect(await all.exited).toBe(3);
  expect(all.log.filter(({ message }) => message === 'worker.rebuilt')).toHaveLength(1);
});

test('two workers with little work both stay ready, although only one of them completes each job', async () => {
  const town = await buildTown(redis.url);
  const [console] = await Promise.all([town.start('console'), town.start('receiver')]);
  const client = createOperatorClient(await console.url('console'), API_KEY);
  const workers = await Promise.all([1, 2].map(() => town.start('worker', STALLED_AFTER_3_S)));
  const untilMs = performance.now() + 9000;
  for (let tows = 0; tows <= 5 || performance.now() < untilMs; tows += 1) {
    const ref = await requestKnownTow(town, client);
    await start(client, ref);
    await expectAccepted(client, ref);
    for (const worker of workers) {
      expect(await readyWithRedis(worker)).toMatchObject({ httpStatus: 200, worker: 'progressing' });
    }
  }

  const events = workers.flatMap(({ log }) => log.map(({ message }) => message));
  expect(events).not.toContain('worker.stalled');
  for (const worker of workers) worker.kill('SIGTERM');
  expect(await Promise.all(workers.map(({ exited }) => exited))).toEqual([0, 0]);
});
