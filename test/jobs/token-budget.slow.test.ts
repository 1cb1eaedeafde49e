import request from 'supertest';
import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import type { ServiceClient } from '../../src/service';
import { startSimulator, type Simulator } from '../../src/simulator';
import { createBudgets } from '../../src/store/service/budgets';
import { createTokenCache } from '../../src/store/service/tokens';
import { createSendingStore } from '../../src/store/service/sending';
import { createTaskStore } from '../../src/store/ops/tasks';
import { eventually } from '../support/eventually';
import { readEntry } from '../support/stored-records';
import { START, useStores, FAST_RETRIES } from '../support/stores';
import { unstopped } from './run-steps';
import { unobserved } from '../support/unobserved';
import { clientFor, closeClients } from '../service/client-under-test';

const stores = useStores();
let simulator: Simulator;
beforeEach(async () => {
  simulator = await startSimulator({
    host: '127.0.0.1',
    port: 0,
    webhookUrl: 'http://127.0.0.1:1',
    clock: systemClock,
    log: silentLog,
  });
});
afterEach(async () => {
  closeClients();
  await simulator.stop(100);
});

/** One token request per budget window. The window length is set per test. */
const AUTH_PER_MINUTE = { auth: 1, site: 0, violations: 0, tickets: 0, tow: 0 };

function serviceWith(minuteMs: number): ServiceClient {
  const service = clientFor(simulator.url, {
    timeoutMs: 2000,
    tokens: createTokenCache(stores.redis, 'access'),
    budgets: createBudgets(stores.redis, AUTH_PER_MINUTE, minuteMs),
  });
  return service;
}

function run(ref: string, service: ServiceClient) {
  const { outbox, records } = stores;
  return runOutbox(
    CALLS.tow,
    ref,
    { outbox, records, service, settings: FAST_RETRIES, claimMaxAgeMs: 5000, ...unobserved() },
    unstopped,
  );
}

const sending = () => createSendingStore(stores.redis, AUTH_PER_MINUTE).read();

async function order(ref: string): Promise<void> {
  await request(simulator.url)
    .post('/simulator/tow-requests')
    .send({ violation_reference_id: `V-${ref}`, metadata: { id: ref }, send: false })
    .expect(201);
}

test('reports wait for the token rate limit without an open circuit, a task or a counted attempt', async () => {
  const minuteMs = 60_000;
  for (const ref of ['A', 'B']) {
    await stores.request(ref);
    await stores.say(ref, START);
  }
  const service = serviceWith(minuteMs);
  const beforeMs = systemClock.nowMs();
  await createBudgets(stores.redis, AUTH_PER_MINUTE, minuteMs).reserve('auth', 0);
  for (const ref of ['A', 'B']) await run(ref, service);

  for (const ref of ['A', 'B']) {
    const entry = await readEntry(stores.redis, { ref }, 1);
    expect(entry).toMatchObject({ state: 'pending', attempts: 0, failures: 0 });
    expect((await stores.read(ref)).tasks).toEqual([]);
    expect(await stores.dueAt(ref)).toBeGreaterThan(beforeMs + minuteMs);
  }
  expect(await sending()).toMatchObject({ connection: { state: 'working' }, service: { state: 'working' }, held: 0 });
  expect(await createTaskStore(stores.redis).list({ cursor: null, limit: 10 })).toMatchObject({ items: [] });
});

test('reports that waited for the token rate limit are sent when it permits a token request again', async () => {
  await order('A');
  await stores.request('A');
  await stores.say('A', START);
  // Longer than a call waits for its permit, also when it begins late.
  const minuteMs = 6000;
  const service = serviceWith(minuteMs);
  await createBudgets(stores.redis, AUTH_PER_MINUTE, minuteMs).reserve('auth', 0);
  await run('A', service);
  const calls = async () => (await request(simulator.url).get('/simulator/calls')).text;
  expect(await calls()).toBe('{"items":[]}');

  await eventually(async () => {
    const dueAt = await stores.dueAt('A');
    if (dueAt !== null && dueAt <= systemClock.nowMs()) await run('A', service);
    expect(await calls()).toContain('"operation":"started"');
  });
  expect(await sending()).toMatchObject({ connection: { state: 'working' } });
});
