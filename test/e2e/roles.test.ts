import { simulatorCalls, simulatorOrders } from '../../src/contracts/simulator';
import { createOperatorClient } from '../../src/main/demo/client';
import { playTows } from '../../src/main/demo/play';
import { eventually } from '../support/eventually';
import { useRedis } from '../support/redis';
import { API_KEY, buildTown, type Town } from '../support/town';

const redis = useRedis();

const NO_FAULTS = { faults: [], paceMs: 5, timeLimitMs: 60_000 };

test('one process of the role all carries tows through all their reports, in order and exactly as said', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all');
  const addresses = { consoleUrl: await all.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };

  const { findings, finished } = await playTows(addresses, { ...NO_FAULTS, tows: 12 });

  expect(finished).toBe(12);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, reportsArrived: 46 });
  const calls = simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items;
  const tokenCalls = calls.filter(({ operation }) => operation === 'token');
  expect(tokenCalls).toHaveLength(1);
  expect(calls.every(({ path }) => String(path).startsWith('/some/prefix/'))).toBe(true);

  all.kill('SIGTERM');
  expect(await all.exited).toBe(0);
});

test('receiver, console and two workers as processes of their own share the work and one token', async () => {
  const town = await buildTown(redis.url);
  const [receiver, firstWorker, secondWorker, console] = await Promise.all([
    town.start('receiver'),
    town.start('worker'),
    town.start('worker'),
    town.start('console'),
  ]);
  const addresses = { consoleUrl: await console.url('console'), simulatorUrl: town.simulator.url, apiKey: API_KEY };

  const { findings, finished } = await playTows(addresses, { ...NO_FAULTS, tows: 48 });

  expect(finished).toBe(48);
  expect(findings).toMatchObject({ lost: 0, outOfOrder: 0, wrongBodies: 0, secondInvoices: 0, problems: [] });
  for (const worker of [firstWorker, secondWorker]) {
    expect(worker.log.filter(({ message }) => message === 'report.attempted').length).toBeGreaterThan(0);
  }
  const calls = simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items;
  expect(calls.filter(({ operation }) => operation === 'token')).toHaveLength(1);

  for (const role of [receiver, firstWorker, secondWorker, console]) role.kill('SIGTERM');
  const exitCodes = await Promise.all([receiver, firstWorker, secondWorker, console].map(({ exited }) => exited));
  expect(exitCodes).toEqual([0, 0, 0, 0]);
});

test('the logs carry no plate, no place, no secret and no token, even when the service quotes them', async () => {
  const town = await buildTown(redis.url);
  const all = await town.start('all', { LOG_LEVEL: 'debug' });
  const client = createOperatorClient(await all.url('console'), API_KEY);
  await simulate(town, 'PUT', 'faults', [{ operation: 'started', fault: '400', message: 'Plate ZZZ 77 is unknown' }]);
  const { items } = simulatorOrders.parse(await simulate(town, 'POST', 'tow-requests', {}));
  const ref = items[0]?.towing_reference_id ?? '';
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());

  const place = { towed_location: 'Hidden Street', latitude: 24.111111, longitude: 46.222222 };
  await client.say(ref, 'started', { plate_number: 'ZZZ 77', ...place });
  const refused = await eventually(async () => {
    const tow = await client.tow(ref);
    expect(tow?.reports[0]?.state).toBe('refused');
    return tow;
  });
  expect(refused?.tasks[0]?.message).toContain('Plate ZZZ 77 is unknown');
  const text = JSON.stringify(all.log);
  expect(text).toContain('report.attempted');
  for (const secret of ['ZZZ 77', 'Hidden', '24.1111', API_KEY, 'e2e-client-secret', 'Bearer ']) {
    expect(text).not.toContain(secret);
  }
});

test('a worker that is asked to stop finishes the call it is in, and nobody makes it again', async () => {
  const town = await buildTown(redis.url);
  await town.start('receiver');
  const client = createOperatorClient(await (await town.start('console')).url('console'), API_KEY);
  const worker = await town.start('worker');
  await simulate(town, 'PUT', 'faults', [{ operation: 'started', fault: 'latency', ms: 1500 }]);
  const { items } = simulatorOrders.parse(await simulate(town, 'POST', 'tow-requests', {}));
  const ref = items[0]?.towing_reference_id ?? '';
  await eventually(async () => expect(await client.tow(ref)).not.toBeNull());
  const place = { towed_location: 'Olaya Street', latitude: 24.7, longitude: 46.7 };
  await client.say(ref, 'started', { plate_number: 'ABC 1', ...place });
  await eventually(async () => expect(await startedCalls(town)).toHaveLength(1));

  worker.kill('SIGTERM');

  expect(await worker.exited).toBe(0);
  const tow = await client.tow(ref);
  expect(tow?.reports).toMatchObject([{ kind: 'started', state: 'accepted', attempts: 1 }]);
  await client.say(ref, 'detained', {});
  await town.start('worker');
  await eventually(async () => expect((await client.tow(ref))?.reports[1]?.state).toBe('accepted'));
  expect(await startedCalls(town)).toHaveLength(1);
});

async function startedCalls(town: Town) {
  const calls = simulatorCalls.parse(await (await fetch(`${town.simulator.url}/simulator/calls`)).json()).items;
  return calls.filter(({ operation }) => operation === 'started');
}

async function simulate(town: Town, method: 'PUT' | 'POST', path: string, body: unknown): Promise<unknown> {
  const response = await fetch(`${town.simulator.url}/simulator/${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return response.json();
}
