import { z } from 'zod';
import { apiKeyView, newApiKeyView } from '../../src/contracts/operator';
import { createApiKeyStore } from '../../src/store/api-keys';
import { createAnswerStore } from '../../src/store/answers';
import { createTaskStore } from '../../src/store/tasks';
import { entryOf } from '../support/audit';
import { useApp } from '../support/app';
import { get, post, towIn, towPath } from './client';
import { deliver, newTow, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });
const idempotencyKey = 'a-key-of-the-client';

/** What a process leaves that dies between the effect of a request and its answer. */
async function forgetAnswers(): Promise<void> {
  const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*'));
  expect(keys).toHaveLength(1);
  for (const key of keys) expect(await app.redis.ask('HDEL', key, 'answer')).toBe(1);
}

describe('a request repeated after a crash between its effect and its answer is answered for what it did', () => {
  it('a fact with the tow', async () => {
    const ref = await newTow(app);
    await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey });
    await forgetAnswers();
    const tow = towIn(await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey }));
    expect([tow.state, tow.facts.length]).toEqual(['started', 1]);
  });

  it('a resolved task, since its answer is stored by the write that closes it', async () => {
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

  it('a new API key, since its answer is stored by the write that makes it', async () => {
    const keys = createApiKeyStore(app.foundation.redis);
    const key = { id: 'k1', name: 'yard', role: 'crew', createdAt: '2026-03-10T12:00:00.000Z' } as const;
    const remember = { scope: 'scope', fingerprint: 'fingerprint', answer: 'the answer' };
    await keys.create(key, 'hash', { audit: entryOf('key.created'), remember });
    const answers = createAnswerStore(app.foundation.redis);
    expect(await answers.find('scope')).toEqual({ fingerprint: 'fingerprint', answer: 'the answer' });
  });

  it('the same Idempotency-Key a day later makes another key, and leaves the first as it is', async () => {
    const role = async (name: string, wanted: string) =>
      newApiKeyView.parse((await post(app, '/api/keys', { name, role: wanted }, { idempotencyKey })).json);
    const first = await role('reader', 'viewer');
    await app.redis.ask('DEL', ...z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*')));
    const second = await role('chief', 'ops');
    expect(second.id).not.toBe(first.id);
    const { items } = z.object({ items: z.array(apiKeyView) }).parse((await get(app, '/api/keys')).json);
    expect(items.map(({ name, role: held }) => `${name} ${held}`).toSorted()).toEqual(['chief ops', 'reader viewer']);
  });
});
