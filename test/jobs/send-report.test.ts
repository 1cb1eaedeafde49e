import request from 'supertest';
import { CALLS, runOutbox, type RunOutboxTools } from '../../jobs/run-outbox';
import { PROBE_TURN_MS } from '../../src/domain/outbox/claim-entry';
import type { StoredTow } from '../../src/domain/outbox/outbox-record';
import { simulatorCalls } from '../../src/contracts/service/simulator';
import { systemClock, type Clock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import type { ServiceClient } from '../../src/service';
import { startSimulator, type Simulator } from '../../src/simulator';
import type { TowOutbox } from '../support/outboxes';
import type { ServicePort } from '../../src/workflow/service/service-port';
import { eventually } from '../support/eventually';
import { readCircuits, readEntry } from '../support/stored-records';
import { GRACE_MS, INVOICE, START, useStores, FAST_RETRIES } from '../support/stores';
import { stoppedAfter } from './run-steps';
import { unobserved } from '../support/unobserved';
import { clientFor, closeClients } from '../service/client-under-test';

const stores = useStores();
let simulator: Simulator;
let service: ServiceClient;

beforeEach(async () => {
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    // The tests store their webhooks directly, so nothing listens on the webhook URL.
    webhookUrl: 'http://127.0.0.1:1',
    clock: systemClock,
    log: silentLog,
  });
  service = clientFor(`${simulator.url}/prefix`);
});
afterEach(async () => {
  closeClients();
  await simulator.stop(100);
});

function tools(also: { clock?: Clock; outbox?: TowOutbox } = {}): RunOutboxTools<StoredTow> {
  const { outbox, records } = stores;
  return { outbox, records, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...unobserved(), ...also };
}

const run = (ref: string, also = {}) => runOutbox(CALLS.tow, ref, tools(also), stoppedAfter(1));

/** Runs the job repeatedly, as the scheduler does, until the reports are in the expected states. */
const runUntil = (ref: string, expected: string[]) =>
  eventually(async () => {
    await run(ref);
    expect(await stores.states(ref)).toEqual(expected);
  });

async function setFaults(...rules: object[]): Promise<void> {
  await request(simulator.url).put('/simulator/faults').send(rules).expect(200);
}

async function callsOf(operation: string) {
  const { items } = simulatorCalls.parse((await request(simulator.url).get('/simulator/calls')).body);
  return items.filter((call) => call.operation === operation);
}

/** Orders a tow in the simulator, starts it here and requests its invoice. Returns its reference. */
async function towWithInvoice(): Promise<string> {
  const order = { violation_reference_id: 'V-T1', send: false };
  const response = await request(simulator.url).post('/simulator/tow-requests').send(order).expect(201);
  const [, ref = ''] = /"towing_reference_id":"([^"]+)"/.exec(response.text) ?? [];
  await stores.accept('tow_request', { violation_reference_id: 'V-T1', towing_reference_id: ref }, 'd1');
  await stores.process('d1');
  await stores.say(ref, START);
  await stores.say(ref, INVOICE);
  await runUntil(ref, ['started accepted', 'invoice pending']);
  return ref;
}

test('repeats an invoice request answered with 500 only after the grace time for its webhook', async () => {
  const ref = await towWithInvoice();
  await setFaults({ operation: 'invoice', fault: '500', times: 1 });
  const startedMs = systemClock.monotonicMs();

  await runUntil(ref, ['started accepted', 'invoice accepted']);

  expect(await callsOf('invoice')).toHaveLength(2);
  expect(systemClock.monotonicMs() - startedMs).toBeGreaterThanOrEqual(GRACE_MS);
});

test('retries a report that is refused with violation not found a limited number of times, then opens a task', async () => {
  await stores.request('T-unknown');
  await stores.say('T-unknown', START);

  await runUntil('T-unknown', ['started refused']);

  expect(await callsOf('started')).toHaveLength(1 + FAST_RETRIES.notFoundRetries);
  const [task] = (await stores.read('T-unknown')).tasks;
  expect(task).toMatchObject({ type: 'report_refused', http_status: 404 });
  expect(task?.message).toContain('Violation not found');
});

test('a report whose claim is too old is not sent and counts no attempt', async () => {
  const ref = await towWithInvoice();
  const late: Clock = { ...systemClock, monotonicMs: leaps(6000) };

  expect(await run(ref, { clock: late })).toMatchObject({ what: 'hold' });

  expect(await callsOf('invoice')).toHaveLength(0);
  expect((await stores.read(ref)).reports[1]).toMatchObject({ state: 'pending', attempts: 0 });
});

test('accepts a report whose answer breaks the contract and opens a task about such answers', async () => {
  const ref = await towWithInvoice();
  await setFaults({ operation: 'invoice', fault: 'broken_answer', times: 1 });

  await run(ref);

  expect(await stores.states(ref)).toEqual(['started accepted', 'invoice accepted']);
  expect(await stores.generalTasks()).toMatchObject([{ type: 'answer_differs', operation: 'invoice' }]);
});

test('opens one task for refused credentials and resumes sending when they are accepted', async () => {
  const ref = await towWithInvoice();
  await setFaults(
    { operation: 'invoice', fault: 'expired_token', times: 1 },
    { operation: 'token', fault: '403', times: 2 },
  );

  await run(ref);
  expect(await stores.redis.hget('{towhook-main}:tasks', 'connection')).toContain('connection');
  await runUntil(ref, ['started accepted', 'invoice accepted']);

  expect(await stores.redis.hlen('{towhook-main}:tasks')).toBe(0);
  expect((await callsOf('invoice')).filter(({ effect }) => effect)).toHaveLength(1);
});

test('opens a task and keeps the answer to an invoice request that names another tow', async () => {
  const ref = await towWithInvoice();
  const other: ServicePort = {
    call: async (name, request, options) => {
      const result = await service.call(name, request, options);
      return result.data === null ? result : { ...result, data: { ...result.data, towing_reference_id: 'another' } };
    },
  };

  await runOutbox(CALLS.tow, ref, { ...tools(), service: other }, stoppedAfter(1));

  const record = await stores.read(ref);
  expect(await stores.generalTasks()).toMatchObject([{ type: 'answer_differs' }]);
  expect(record.reports[1]).toMatchObject({ state: 'accepted', answer: null });
  expect(record.reports[1]?.rawBody).toContain('towing_invoice');
});

test('probes a broken connection with another tow than the one that failed last', async () => {
  const ref = await towWithInvoice();
  await stores.request('T-healthy');
  await stores.say('T-healthy', START);
  await setFaults({ operation: 'invoice', fault: '302' });

  expect(await run(ref)).toMatchObject({ what: 'hold' });
  const { nextAtMs } = await readEntry(stores.redis, { ref }, 2);
  const { connection } = (await readCircuits(stores.redis)).open;
  expect(nextAtMs).toBeGreaterThanOrEqual((connection?.untilMs ?? Infinity) + PROBE_TURN_MS);
  await eventually(async () => expect((await run('T-healthy')).what).not.toBe('wait'));

  // The working connection brings it no closer.
  expect((await readCircuits(stores.redis)).open).toEqual({});
  expect((await readEntry(stores.redis, { ref }, 2)).nextAtMs).toBe(nextAtMs);
});

/** A monotonic clock that advances by `stepMs` on every read. */
function leaps(stepMs: number): () => number {
  let nowMs = 0;
  return () => (nowMs += stepMs);
}
