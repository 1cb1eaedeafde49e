import { createOperatorClient } from '../../src/demo/client';
import { playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import { holdAnswers } from '../support/proxy';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { callsOf, reportFaults, requestTow } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

/** With two calls at a time of 30 ms each, one worker cannot take all reports before the other takes one. */
const FEW_AT_A_TIME = { WORKER_CONCURRENCY: '2' };
const SLOW_CALLS = reportFaults({ fault: 'latency', ms: 30 });

test('a receiver, a console and two workers as four processes share the work and one token', async () => {
  const town = await buildTown(redis.url);
  const [receiver, firstWorker, secondWorker, console] = await Promise.all([
    town.start('receiver'),
    town.start('worker', FEW_AT_A_TIME),
    town.start('worker', FEW_AT_A_TIME),
    town.start('console'),
  ]);

  const options = { tows: 48, faults: SLOW_CALLS, paceMs: 5, timeLimitMs: 240_000 };
  const { findings, finished } = await playTows(await town.addressesOf(console), options);

  expect(finished).toBe(48);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  for (const worker of [firstWorker, secondWorker]) {
    expect(worker.log.map(({ message }) => message)).toContain('report.attempted');
  }
  expect(await callsOf(town, 'token')).toHaveLength(1);

  const roles = [receiver, firstWorker, secondWorker, console];
  for (const role of roles) role.kill('SIGTERM');
  expect(await Promise.all(roles.map(({ exited }) => exited))).toEqual([0, 0, 0, 0]);
});

test('a worker stopped with SIGTERM during a call finishes the call, and the next worker does not repeat it', async () => {
  const town = await buildTown(redis.url);
  const answers = await holdAnswers(town.simulator.url, 'started');
  const [worker, console] = await Promise.all([
    town.start('worker', { SERVICE_BASE_URL: answers.url }),
    town.start('console'),
    town.start('receiver'),
  ]);
  const client = createOperatorClient(await console.url('console'), API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
  await eventually(async () => expect(await callsOf(town, 'started')).toHaveLength(1));

  worker.kill('SIGTERM');
  await worker.logged('process.stopping');
  expect((await client.tow(ref))?.reports).toMatchObject([{ kind: 'started', in_flight: true }]);
  answers.release();

  expect(await worker.exited).toBe(0);
  const tow = await client.tow(ref);
  expect(tow?.reports).toMatchObject([{ kind: 'started', state: 'accepted', attempts: 1 }]);
  await client.recordFact(ref, 'detained', {});
  await town.start('worker');
  await eventually(async () => expect((await client.tow(ref))?.reports[1]?.state).toBe('accepted'));
  expect(await callsOf(town, 'started')).toHaveLength(1);
});
