import { z } from 'zod';
import { apiKeyView, newApiKeyView, towView } from '../../src/contracts/operator';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { createAnswerStore } from '../../src/store/redis/answers';
import { recordsOf } from '../../src/store/outbox/records';
import { createTaskStore } from '../../src/store/ops/tasks';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { resolveTask } from '../../src/workflow/ops/ops-actions';
import { TESTER } from '../support/stores';
import { auditEntryOf } from '../support/audit';
import { useApp } from '../support/app';
import { api, audited, towOf } from './client';
import { deliver, newTow } from './world';

const app = useApp({ role: 'console' });
const idempotencyKey = 'a-key-of-the-client';

/** Deletes the stored response: the state after a crash between the effect of a request and its response. */
async function forgetAnswers(): Promise<void> {
  const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*'));
  expect(keys).toHaveLength(1);
  for (const key of keys) expect(await app.redis.ask('HDEL', key, 'answer')).toBe(1);
}

describe('operator API: requests repeated after a crash between effect and response', () => {
  it('answers a repeated resume of a queue, and audits it once, when the process crashed before its response', async () => {
    const resume = () => api(app).post('/api/queues/reports/resume').set('idempotency-key', idempotencyKey).send({});
    const first = await resume();
    await forgetAnswers();
    const again = await resume();
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect((await audited(app)).items.map(({ action }) => action)).toEqual(['queue.resumed']);
  });

  it('stores the response of a fact in the same write that records it', async () => {
    const ref = await newTow(app);
    const { redis, clock, config } = app.foundation;
    const effect = await recordFact(
      { records: recordsOf(redis), clock, rules: config.rules },
      {
        ref,
        command: { event: 'canceled', cancellationReason: 'Owner came back' },
        actor: TESTER,
        idempotency: { scope: 'scope', fingerprint: 'fingerprint' },
      },
    );
    const found = await createAnswerStore(redis).find('scope');
    expect(found?.fingerprint).toBe('fingerprint');
    const tow = await towOf(app, ref);
    expect(towView.parse(JSON.parse(found?.answer ?? ''))).toEqual(tow);
    expect(effect).toMatchObject({ kind: 'done', value: { towing_reference_id: ref, state: 'canceled' } });
  });

  it('stores the response of a task resolution in the same write that closes the task', async () => {
    const ref = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
    const { redis } = app.foundation;
    const tools = { records: recordsOf(redis), tasks: createTaskStore(redis) };
    const idempotency = { scope: 'scope', fingerprint: 'fingerprint' };
    await resolveTask(tools, { id: `rival_request.${ref}`, reason: 'seen', actor: TESTER, idempotency });
    const found = await createAnswerStore(redis).find('scope');
    expect(found?.fingerprint).toBe('fingerprint');
    expect(JSON.parse(found?.answer ?? '')).toMatchObject({ id: `rival_request.${ref}`, type: 'rival_request' });
  });

  it('stores the response of an API key creation in the same write that creates the key', async () => {
    const keys = createApiKeyStore(app.foundation.redis);
    const key = { id: 'k1', name: 'yard', role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' } as const;
    const idempotency = { scope: 'scope', fingerprint: 'fingerprint' };
    await keys.create(key, 'hash', { audit: auditEntryOf('key.created'), idempotency, answer: { id: 'k1' } });
    const answers = createAnswerStore(app.foundation.redis);
    expect(await answers.find('scope')).toEqual({ fingerprint: 'fingerprint', answer: '{"id":"k1"}' });
  });

  it('creates a second API key when an Idempotency-Key is used again after it has expired, and keeps the first key', async () => {
    const create = async (name: string, role: string) =>
      newApiKeyView.parse(
        (await api(app).post('/api/keys').set('idempotency-key', idempotencyKey).send({ name, role })).body,
      );
    const first = await create('reader', 'viewer');
    await app.redis.ask('DEL', ...z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*')));
    const second = await create('chief', 'ops');
    expect(second.id).not.toBe(first.id);
    const { items } = z.object({ items: z.array(apiKeyView) }).parse((await api(app).get('/api/keys')).body);
    expect(items.map(({ name, role: granted }) => `${name} ${granted}`).toSorted()).toEqual([
      'chief ops',
      'reader viewer',
    ]);
  });
});
