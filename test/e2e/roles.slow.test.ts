import { setTimeout as pause } from 'node:timers/promises';
import { createOperatorClient } from '../../src/demo/client';
import { keepTowsComing, playTows } from '../../src/demo/play';
import { eventually } from '../support/eventually';
import { holdAnswers } from '../support/proxy';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown } from '../support/town';
import { callsAt, callsOf, reportFaults, requestTow } from './simulator-control';

jest.setTimeout(240_000);
const redis = useRedis();

test('one process of the role all sends every report of 12 tows in order with the bodies as entered and exits with 0', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');

  const options = { tows: 12, faults: [], paceMs: 5, timeLimitMs: 240_000 };
  const { findings, finished } = await playTows(await town.addressesOf(all), options);

  expect(finished).toBe(12);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, reportsArrived: 46 });
  const calls = await callsAt(town);
  expect(calls.filter(({ operation }) => operation === 'token')).toHaveLength(1);
  expect(calls.every(({ path }) => String(path).startsWith('/some/prefix/'))).toBe(true);

  all.kill('SIGTERM');
  expect(await all.exited).toBe(0);
});

test('after its check the demo leaves tows open on the board, and more come until it ends', async () => {
  const town = await buildTown(redis.url);
  const { consoleUrl } = await town.startInProcess();
  const ending = new AbortController();
  const addresses = { consoleUrl, simulatorUrl: town.simulator.url, apiKey: API_KEY };
  const coming = keepTowsComing(addresses, { signal: ending.signal, everyMs: 100, paceMs: 5 });
  const headers = { authorization: `Bearer ${API_KEY}` };
  const statesOf = async () => {
    const text = await (await fetch(`${consoleUrl}/api/tows`, { headers })).text();
    return [...text.matchAll(/"state":"(requested|started|detained)"/g)].map(([, state]) => state);
  };
  await eventually(async () => {
    const states = await statesOf();
    expect(new Set(states)).toEqual(new Set(['requested', 'started', 'detained']));
  });
  await eventually(async () =>
    expect(await callsAt(town)).toContainEqual(expect.objectContaining({ operation: 'released' })),
  );
  ending.abort();
  await coming;
});

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

const THROWS_ON_SIGUSR2 = `process.on('SIGUSR2', () => { throw new Error('A fault of the test.'); });`;
const WITH_FAULT_ON_SIGNAL = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(THROWS_ON_SIGUSR2)}` };
/** After this time a signal is no longer counted as the one before it. */
const SAME_SIGNAL_MS = 1100;

/** A town whose worker has sent a `started` report and waits for the answer. */
async function workerDuringCall(environment: Readonly<Record<string, string>> = {}) {
  const town = await buildTown(redis.url);
  const answers = await holdAnswers(town.simulator.url, 'started');
  const [worker, console] = await Promise.all([
    town.start('worker', { SERVICE_BASE_URL: answers.url, ...environment }),
    town.start('console'),
    town.start('receiver'),
  ]);
  const client = createOperatorClient(await console.url('console'), API_KEY);
  const ref = await requestTow(town);
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.recordFact(ref, 'started', { plate_number: 'ABC 1', ...place });
  await eventually(async () => expect(await callsOf(town, 'started')).toHaveLength(1));
  return { town, answers, worker, client, ref };
}

test('a worker stopped with SIGTERM during a call finishes the call, and the next worker does not repeat it', async () => {
  const { town, answers, worker, client, ref } = await workerDuringCall();

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

test('a worker that stops because of a fault finishes its call also when a signal arrives during the stop', async () => {
  const { answers, worker, client, ref } = await workerDuringCall(WITH_FAULT_ON_SIGNAL);

  worker.kill('SIGUSR2');
  expect(await worker.logged('process.stopping')).toMatchObject({ reason: 'fault' });
  await pause(SAME_SIGNAL_MS);
  worker.kill('SIGTERM');
  await pause(100);
  answers.release();

  expect(await worker.exited).toBe(1);
  expect(worker.log.map(({ message }) => message)).toContain('process.stopped');
  expect((await client.tow(ref))?.reports).toMatchObject([{ kind: 'started', state: 'accepted', attempts: 1 }]);
});

test('a second signal ends a worker at once', async () => {
  const { worker } = await workerDuringCall();

  worker.kill('SIGTERM');
  await worker.logged('process.stopping');
  await pause(SAME_SIGNAL_MS);
  worker.kill('SIGINT');

  expect(await worker.exited).toBe(1);
  expect(worker.log.map(({ message }) => message)).not.toContain('process.stopped');
});
