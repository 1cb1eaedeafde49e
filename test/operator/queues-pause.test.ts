import request from 'supertest';
import { z } from 'zod';
import { queueView } from '../../src/contracts/operator';
import { startApp, useApp } from '../support/app';
import { eventually } from '../support/eventually';
import { api, audited, entriesOf, errorOf, newKey, towOf } from './client';
import { acceptOnly } from './world';

const app = useApp({ role: 'console' });
const ANY_TEXT: unknown = expect.any(String);

const pause = (queue: string) => api(app).post(`/api/queues/${queue}/pause`).send({});
const resume = (queue: string) => api(app).post(`/api/queues/${queue}/resume`).send({});

async function queue(name: string) {
  const response = await api(app).get('/api/queues');
  const queues = z.array(queueView).parse(response.body);
  return queues.find((one) => one.name === name);
}

const QUEUES = ['deliveries', 'reports', 'violations', 'runs', 'subscriptions'] as const;

it.each(QUEUES)('pauses and resumes the queue %s without affecting the other queues', async (name) => {
  const paused = await pause(name).expect(202);
  expect(queueView.parse(paused.body)).toMatchObject({ name, paused: true });
  for (const other of QUEUES) expect((await queue(other))?.paused).toBe(other === name);
  const resumed = await resume(name).expect(202);
  expect(queueView.parse(resumed.body)).toMatchObject({ name, paused: false });
  expect((await queue(name))?.paused).toBe(false);
});

it('audits every pause and resume of a queue with its reason, also when the queue is already paused', async () => {
  const nightShift = api(app, await newKey(app, 'ops', 'night shift'));
  const entries = await entriesOf(app, async () => {
    await nightShift.post('/api/queues/reports/pause').send({ reason: 'deploying' });
    await nightShift.post('/api/queues/reports/pause').send({});
    await nightShift.post('/api/queues/reports/resume').send({ reason: 'deployed' });
  });
  const entry = { by: 'night shift', by_id: ANY_TEXT, role: 'ops', on: { queue: 'reports' }, what: {} };
  expect(entries).toEqual([
    { ...entry, action: 'queue.resumed', why: 'deployed' },
    { ...entry, action: 'queue.paused', why: null },
    { ...entry, action: 'queue.paused', why: 'deploying' },
  ]);
  expect((await queue('reports'))?.paused).toBe(false);
});

it('a pause repeated with the same Idempotency-Key does not pause a queue that was resumed in between', async () => {
  const pauseOnce = () => pause('reports').set('idempotency-key', 'once');
  const first = await pauseOnce();
  await resume('reports');
  expect((await pauseOnce()).text).toBe(first.text);
  expect((await queue('reports'))?.paused).toBe(false);
  expect((await audited(app)).items.map(({ action }) => action)).toEqual(['queue.resumed', 'queue.paused']);
});

it.each([
  ['pause', pause],
  ['resume', resume],
])('refuses to %s an unknown queue with 404 and names the known queues', async (_action, act) => {
  const response = await act('lunch').expect(404);
  expect(errorOf(response).code).toBe('queue_not_found');
  expect(errorOf(response).message).toContain('deliveries, reports, violations, runs');
  expect((await audited(app)).items).toEqual([]);
});

it('reports in the metrics which queues are paused', async () => {
  await pause('reports');
  const { text: metrics } = await api(app).get('/metrics');
  expect(metrics).toContain('towhook_queue_paused{queue="reports",installation="main"} 1');
  expect(metrics).toContain('towhook_queue_paused{queue="deliveries",installation="main"} 0');
});

it('keeps deliveries of a paused queue waiting, leaves the worker ready, and processes all of them after the resume', async () => {
  // Processes of one Redis share a disk.
  const environment = { WORKER_STALLED_MS: '1000', DATA_DIR: app.foundation.config.dataDir };
  const worker = await startApp({ redisUrl: app.redis.url, role: 'worker', environment });
  const refs = Array.from({ length: 20 }, (_, index) => `TW-20261120-P${String(index).padStart(5, '0')}`);
  const bringIn = async (ref: string) => {
    const body = { violation_reference_id: `V-${ref}`, towing_reference_id: ref };
    await acceptOnly(app, 'tow_request', body);
  };
  const processed = async () => {
    const responses = await Promise.all(refs.map(async (ref) => api(app).get(`/api/tows/${ref}`)));
    return responses.filter(({ status }) => status === 200).length;
  };
  try {
    await pause('deliveries');
    for (const ref of refs) await bringIn(ref);
    await eventually(async () => expect((await queue('deliveries'))?.due).toBe(refs.length));
    // Longer than WORKER_STALLED_MS: without the pause the worker would be reported as stalled.
    await eventually(async () => expect((await queue('deliveries'))?.oldest_age_ms).toBeGreaterThan(2000));
    expect(await processed()).toBe(0);
    await request(worker.opsUrl).get('/readyz').expect(200);

    await resume('deliveries');
    await eventually(async () => expect(await processed()).toBe(refs.length));
    expect((await queue('deliveries'))?.due).toBe(0);
  } finally {
    await worker.stop();
  }
});

it('processes a due delivery after a pause during which the keys of the queue were deleted', async () => {
  const worker = await startApp({ redisUrl: app.redis.url, role: 'worker' });
  const ref = 'TW-20261120-LOST01';
  try {
    await pause('deliveries');
    await acceptOnly(app, 'tow_request', { violation_reference_id: 'V-1', towing_reference_id: ref });
    await eventually(async () => expect((await queue('deliveries'))?.due).toBe(1));
    const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '{towhook-main}:deliveries:*'));
    await app.redis.ask('DEL', ...keys);
    await resume('deliveries');
    await eventually(async () => expect((await towOf(app, ref)).state).toBe('requested'));
  } finally {
    await worker.stop();
  }
});
