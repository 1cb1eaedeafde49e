import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { createApiKeyStore } from '../../src/store/api-keys';
import { createAnswerStore } from '../../src/store/answers';
import { createTaskStore } from '../../src/store/tasks';
import { entryOf } from '../support/audit';
import { useApp } from '../support/app';
import { api, towIn, towPath } from './client';
import { deliver, newTow, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });
const idempotencyKey = 'a-key-of-the-client';

/** Deletes the stored response: the state after a crash between the effect of a request and its response. */
async function forgetAnswers(): Promise<void> {
  const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*'));
  expect(keys).toHaveLength(1);
  for (const key of keys) expect(await app.redis.ask('HDEL', key, 'answer')).toBe(1);
}

describe('operator API: requests repeated after a crash between effect and response', () => {
  it('answers a repeated fact with the tow, and records the fact once, when the process crashed before its response', async () => {
    const ref = await newTow(app);
    await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS);
    await forgetAnswers();
    const tow = towIn(
      await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS),
    );
    expect([tow.state, tow.facts.length]).toEqual(['started', 1]);
  });

  it('stores the response of a task resolution in the same write that closes the task', async () => {
    const ref = await newTow(app);
    await deliver(app, 'tow_request', { violation_reference_id: 'V-other', towing_reference_id: ref });
    const tasks = createTaskStore(app.foundation.redis);
    const open = await tasks.read(`rival_request.${ref}`);
    if (!open) throw new Error('the task was not opened');
    const remember = { scope: 'scope', fingerprint: 'fingerprint', answer: 'the answer' };
    await tasks.resolve(open, { audit: entryOf('task.resolved'), remember });
    const answers = createAnswerStore(app.foundation.redis);
    expect(await answers.find('scope')).toEqual({ fingerprint: 'fingerprint', answer: 'the answer' });
  });

  it('stores the response of an API key creation in the same write that creates the key', async () => {
    const keys = createApiKeyStore(app.foundation.redis);
    const key = { id: 'k1', name: 'yard', role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' } as const;
    const remember = { scope: 'scope', fingerprint: 'fingerprint', answer: 'the answer' };
    await keys.create(key, 'hash', { audit: entryOf('key.created'), remember });
    const answers = createAnswerStore(app.foundation.redis);
    expect(await answers.find('scope')).toEqual({ fingerprint: 'fingerprint', answer: 'the answer' });
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
