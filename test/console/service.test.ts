import { serviceView } from '../../src/contracts/service/seen-service';
import { createSeenServiceStore } from '../../src/store/service/seen-service';
import { createServiceObserver } from '../../src/workflow/service/observe-service';
import { api, newKey } from '../operator/client';
import { answerHead, towAfter } from '../operator/world';
import { useApp } from '../support/app';
import { markupOf } from './tow-world';
import { signedIn, textOf } from './visitor';

/** The page on how the service differs from its document. */

const app = useApp({ role: 'console' });

const ODD = {
  code: '200',
  data: { towing_reference_id: 'TW-SECRET', queue_position: 4711, metadata: { id: 'OWN-77' } },
};

/** What two processes see: 30 odd answers to started each, a webhook, and a call without an answer. */
async function seenByTwoProcesses(): Promise<void> {
  const store = createSeenServiceStore(app.foundation.redis);
  for (let process = 0; process < 2; process += 1) {
    const observer = createServiceObserver();
    for (let call = 0; call < 30; call += 1) {
      observer.called({ operation: 'started', httpStatus: 200, durationMs: 40, body: JSON.stringify(ODD) });
    }
    observer.called({ operation: 'started', httpStatus: null, durationMs: 9000, body: null });
    observer.received('tow_request', '{"towing_reference_id":"TW-SECRET","violation_reference_id":7}');
    const seen = observer.take();
    if (seen) await store.add(seen);
    expect(observer.take()).toBeNull();
  }
}

const read = async () => serviceView.parse((await api(app).get('/api/service').expect(200)).body);

test('the API shows the seen fields of all processes beside the document, statuses and latencies', async () => {
  await seenByTwoProcesses();
  const { messages, operations } = await read();

  const started = messages.find(({ source, name }) => source === 'answer' && name === 'started');
  expect(started).toMatchObject({ samples: 60 });
  const marked = started?.fields.filter(({ mark }) => mark !== 'none');
  expect(marked).toMatchObject([
    { field: 'code', documented: ['integer'], seen: [{ type: 'string', count: 60 }], mark: 'type' },
    { field: 'message', required: true, seen: [], mark: 'missing' },
    { field: 'data.queue_position', documented: null, seen: [{ type: 'integer' }], mark: 'additional' },
  ]);
  const webhook = messages.find(({ name }) => name === 'tow_request');
  expect(webhook?.fields.find(({ field }) => field === 'violation_reference_id')).toMatchObject({ mark: 'type' });
  const calls = operations.find(({ operation }) => operation === 'started');
  expect(calls).toMatchObject({
    calls: 62,
    statuses: [
      { status: '200', count: 60 },
      { status: 'none', count: 2 },
    ],
  });
  expect(calls?.p50_ms).toBeLessThanOrEqual(50);
  expect(calls?.p95_ms).toBeLessThanOrEqual(50);
});

test('the page marks the odd fields, shows no value and leads to each difference', async () => {
  await seenByTwoProcesses();
  await answerHead(app, await towAfter(app, 'started'), 'drift');
  const visitor = await signedIn(app, await newKey(app, 'viewer'));

  const { html, status } = await visitor.get('/ops/service');

  expect(status).toBe(200);
  const started = markupOf(html, 'message-answer-started');
  expect(started).toContain('data.queue_position');
  expect(textOf(started)).toContain('2 differences not documented: 1');
  expect(html).toMatch(/href="\/ops\/service\/answer\.started\.[0-9a-f]+"/);
  for (const value of ['TW-SECRET', '4711', 'OWN-77']) expect(textOf(html)).not.toContain(value);
});

test('more fields than a message may have are not stored', async () => {
  const store = createSeenServiceStore(app.foundation.redis);
  for (let round = 0; round < 5; round += 1) {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`data.f${round}x${at} string`, 1]));
    await store.add({ messages: { 'answer.started': { samples: 1, fields } }, calls: {} });
  }

  const { messages } = await read();
  const started = messages.find(({ name }) => name === 'started');
  expect(started?.fields.filter(({ mark }) => mark === 'additional')).toHaveLength(120);
});
