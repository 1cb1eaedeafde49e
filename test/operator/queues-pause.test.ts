import { z } from 'zod';
import { queueView } from '../../src/contracts/operator';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { audited, entriesOf } from './audited';
import { errorOf, get, newKey, post, towOf } from './client';
import { acceptOnly } from './world';

const app = useApp({ role: 'console' });
const ANY_TEXT: unknown = expect.any(String);

const pause = (queue: string, body: object = {}) => post(app, `/api/queues/${queue}/pause`, body);
const resume = (queue: string, body: object = {}) => post(app, `/api/queues/${queue}/resume`, body);

async function queue(name: string) {
  const queues = z.array(queueView).parse((await get(app, '/api/queues')).json);
  return queues.find((one) => one.name === name);
}

const QUEUES = ['deliveries', 'reports', 'violations'] as const;

it.each(QUEUES)('the queue %s is paused and resumed alone, and says so', async (name) => {
  const paused = await pause(name);
  expect([paused.status, queueView.parse(paused.json)]).toEqual([202, expect.objectContaining({ name, paused: true })]);
  for (const other of QUEUES) expect((await queue(other))?.paused).toBe(other === name);
  const resumed = await resume(name);
  expect([resumed.status, queueView.parse(resumed.json)]).toEqual([
    202,
    expect.objectContaining({ name, paused: false }),
  ]);
  expect((await queue(name))?.paused).toBe(false);
});

it('pausing twice is pausing once, and each word of it stands in the audit with its reason', async () => {
  const who = { apiKey: await newKey(app, 'ops', 'night shift') };
  const entries = await entriesOf(app, async () => {
    await post(app, '/api/queues/reports/pause', { reason: 'deploying' }, who);
    await post(app, '/api/queues/reports/pause', {}, who);
    await post(app, '/api/queues/reports/resume', { reason: 'deployed' }, who);
  });
  const entry = { by: 'night shift', by_id: ANY_TEXT, role: 'ops', on: { queue: 'reports' }, what: {} };
  expect(entries).toEqual([
    { ...entry, action: 'queue.resumed', why: 'deployed' },
    { ...entry, action: 'queue.paused', why: null },
    { ...entry, action: 'queue.paused', why: 'deploying' },
  ]);
  expect((await queue('reports'))?.paused).toBe(false);
});

it('a request repeated under its Idempotency-Key does not pause again what was resumed since', async () => {
  const ask = () => post(app, '/api/queues/reports/pause', {}, { idempotencyKey: 'once' });
  const first = await ask();
  await resume('reports');
  expect((await ask()).text).toBe(first.text);
  expect((await queue('reports'))?.paused).toBe(false);
  expect((await audited(app)).items.map(({ action }) => action)).toEqual(['queue.resumed', 'queue.paused']);
});

it.each([pause, resume])('a queue that is none is 404', async (act) => {
  const answer = await act('lunch');
  expect([answer.status, errorOf(answer).code]).toEqual([404, 'queue_not_found']);
  expect(errorOf(answer).message).toContain('deliveries, reports, violations');
  expect((await audited(app)).items).toEqual([]);
});

it('the metrics say which queue is paused', async () => {
  await pause('reports');
  const metrics = await (await fetch(`${app.consoleUrl}/metrics`)).text();
  expect(metrics).toContain('towhook_queue_paused{queue="reports"} 1');
  expect(metrics).toContain('towhook_queue_paused{queue="deliveries"} 0');
});

it('what comes while a queue is paused waits, and all of it is done once it is resumed', async () => {
  const environment = { WORKER_STANDSTILL_MS: '1000' };
  const worker = await startApp({ redisUrl: app.redis.url, role: 'worker', environment });
  const refs = Array.from({ length: 20 }, (_, index) => `TW-20261120-P${String(index).padStart(5, '0')}`);
  const bringIn = async (ref: string) => {
    const body = { violation_reference_id: `V-${ref}`, towing_reference_id: ref };
    app.foundation.wake.delivery(await acceptOnly(app, 'tow_request', body));
  };
  const processed = async () => {
    const answers = await Promise.all(refs.map((ref) => get(app, `/api/tows/${ref}`)));
    return answers.filter(({ status }) => status === 200).length;
  };
  try {
    await pause('deliveries');
    for (const ref of refs) await bringIn(ref);
    await eventually(async () => expect((await queue('deliveries'))?.waiting).toBe(refs.length));
    // Long enough for a worker to be taken for one that stands still, were it not paused.
    await eventually(async () => expect((await queue('deliveries'))?.oldest_age_ms).toBeGreaterThan(2000));
    expect(await processed()).toBe(0);
    expect((await fetch(`${worker.opsUrl}/readyz`)).status).toBe(200);

    await resume('deliveries');
    await eventually(async () => expect(await processed()).toBe(refs.length), 20_000);
    expect((await queue('deliveries'))?.due).toBe(0);
  } finally {
    await worker.stop();
  }
});

it('what is due survives a pause during which the queue itself is thrown away', async () => {
  const worker = await startApp({ redisUrl: app.redis.url, role: 'worker' });
  const ref = 'TW-20261120-LOST01';
  try {
    await pause('deliveries');
    const id = await acceptOnly(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    app.foundation.wake.delivery(id);
    await eventually(async () => expect((await queue('deliveries'))?.waiting).toBe(1));
    const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '{p0}:deliveries:*'));
    await app.redis.ask('DEL', ...keys);
    await resume('deliveries');
    await eventually(async () => expect((await towOf(app, ref)).state).toBe('requested'), 20_000);
  } finally {
    await worker.stop();
  }
});
