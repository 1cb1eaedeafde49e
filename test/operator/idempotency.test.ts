import type { Response } from 'supertest';
import { z } from 'zod';
import { useApp } from '../support/app';
import { api, errorOf, fieldsOf, newKey, towIn, towPath, audited, towOf } from './client';
import { sendForm } from './forms';
import { at, scenariosOn } from './scenarios';
import { newTow, WHEREABOUTS, deliver } from './world';
import { apiKeyView, newApiKeyView, towView } from '../../src/contracts/operator';
import { createApiKeyStore } from '../../src/store/person/api-keys';
import { createAnswerStore } from '../../src/store/redis/answers';
import { recordsOf } from '../../src/store/outbox/records';
import { createTaskStore } from '../../src/store/ops/tasks';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { resolveTask } from '../../src/workflow/ops/ops-actions';
import { TESTER } from '../support/stores';
import { auditEntryOf } from '../support/audit';

const app = useApp({ role: 'console' });

const SCENARIOS = scenariosOn(app);
const POST_ROUTES = Object.entries(SCENARIOS);
/** Their first response contains a key text and the repeated one does not: see api-keys.test.ts. */
const SHOWING_KEYS = ['createApiKey', 'rotateApiKey', 'createSubscription', 'rotateSubscription'];
const REPEATABLE = POST_ROUTES.filter(([name]) => !SHOWING_KEYS.includes(name));
const idempotencyKey = 'a-key-of-the-client';

/** Posts a scenario's body under the key: a form as multipart, anything else as JSON. */
async function send(path: string, body: object, apiKey?: string): Promise<Response> {
  const request = api(app, apiKey).post(path).set('idempotency-key', idempotencyKey);
  return body instanceof FormData ? sendForm(request, body) : request.send(body);
}

/** The key in Redis of the only Idempotency-Key that is stored. */
async function storedKey(): Promise<string> {
  const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*'));
  expect(keys).toHaveLength(1);
  return keys[0] ?? '';
}

describe.each(REPEATABLE)('idempotency of the operator API: %s', (name, prepare) => {
  it(`repeats the response of ${name} byte for byte under the same Idempotency-Key, with one effect`, async () => {
    const { path, body, effects } = await prepare();
    const before = await effects();
    const first = await send(path, body);
    expect(first.status).toBe(202);
    for (let turn = 0; turn < 2; turn += 1) {
      const again = await send(path, body);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
    }
    expect((await effects()) - before).toBe(1);
  });
});

describe.each(POST_ROUTES)('idempotency of the operator API: concurrent %s', (name, prepare) => {
  it(`gives concurrent requests to ${name} under one Idempotency-Key one effect and one response`, async () => {
    const clients = await Promise.all(['day', 'night'].map((shift) => newKey(app, 'ops', shift)));
    const { path, body, effects } = await prepare();
    const before = await effects();
    const calls = Array.from({ length: 10 }, (_, index) => send(path, body, clients[index % 2]));
    const responses = await Promise.all(calls);
    const shown = responses.map(({ status, body: shownBody }) => {
      const { api_key: _key, secret: _secret, ...rest } = z.record(z.string(), z.unknown()).parse(shownBody);
      return [status, rest];
    });
    for (const one of shown) expect(one).toEqual(shown[0]);
    expect([201, 202]).toContain(shown[0]?.[0]);
    expect((await effects()) - before).toBe(1);
  });
});

const WITHOUT_BODY = [
  'retryReport',
  'retryViolation',
  'replayDelivery',
  'startRun',
  'abortRun',
  'pauseSubscription',
  'resumeSubscription',
];
const WITH_ANOTHER_BODY = POST_ROUTES.filter(([name]) => !WITHOUT_BODY.includes(name));

describe.each(WITH_ANOTHER_BODY)('idempotency of the operator API: %s with another body', (name, prepare) => {
  it(`refuses ${name} with 422 and without an effect when its Idempotency-Key was used for another body`, async () => {
    const { path, body, other, effects } = await prepare();
    if (other === null) throw new Error(`${name} has no other body`);
    await send(path, body);
    const before = await effects();
    const response = await send(path, other);
    expect([response.status, errorOf(response).code]).toEqual([422, 'idempotency_key_reused']);
    expect(await effects()).toBe(before);
  });
});

describe('operator API: Idempotency-Key', () => {
  it('repeats the first response under the same Idempotency-Key after the tow has changed', async () => {
    const ref = await newTow(app);
    const first = await api(app)
      .post(towPath(ref, '/started'))
      .set('idempotency-key', idempotencyKey)
      .send(WHEREABOUTS);
    towIn(await api(app).post(towPath(ref, '/detained')).send({}));
    expect(
      (await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS)).text,
    ).toBe(first.text);
  });

  it('treats JSON bodies that differ in member order and white space as the same request under an Idempotency-Key', async () => {
    const ref = await newTow(app);
    const first = await api(app)
      .post(towPath(ref, '/started'))
      .set('idempotency-key', idempotencyKey)
      .send(WHEREABOUTS);
    const turned = Object.fromEntries(Object.entries(WHEREABOUTS).toReversed());
    const again = await api(app)
      .post(towPath(ref, '/started'))
      .set('idempotency-key', idempotencyKey)
      .type('application/json')
      .send(JSON.stringify(turned, null, 3));
    expect([again.status, again.text]).toEqual([202, first.text]);
  });

  it('treats the same Idempotency-Key on another path as another key', async () => {
    const [one, other] = [await newTow(app), await newTow(app)];
    for (const ref of [one, other])
      towIn(await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS));
    towIn(await api(app).post(towPath(one, '/detained')).set('idempotency-key', idempotencyKey).send({}));
  });

  it('does not store refused requests under their Idempotency-Key', async () => {
    const ref = await newTow(app);
    await api(app).post(towPath(ref, '/detained')).set('idempotency-key', idempotencyKey).send({}).expect(409);
    await api(app).post(towPath(ref, '/detained')).set('idempotency-key', idempotencyKey).send(at('x')).expect(409);
    towIn(
      await api(app)
        .post(towPath(ref, '/started'))
        .send({ ...WHEREABOUTS, ...at('08:00') }),
    );
    await api(app).post(towPath(ref, '/detained')).set('idempotency-key', idempotencyKey).send(at('x')).expect(422);
    expect(
      towIn(await api(app).post(towPath(ref, '/detained')).set('idempotency-key', idempotencyKey).send({})).state,
    ).toBe('detained');
  });

  it('refuses a role that may not send the request with 403, also when its Idempotency-Key has a stored response', async () => {
    const ref = await newTow(app);
    await api(app).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS);
    const apiKey = await newKey(app, 'viewer');
    expect(
      (await api(app, apiKey).post(towPath(ref, '/started')).set('idempotency-key', idempotencyKey).send(WHEREABOUTS))
        .status,
    ).toBe(403);
  });

  it('stores an Idempotency-Key for 24 hours', async () => {
    await api(app)
      .post(towPath(await newTow(app), '/started'))
      .set('idempotency-key', idempotencyKey)
      .send(WHEREABOUTS);
    const seconds = Number(await app.redis.ask('TTL', await storedKey()));
    expect([seconds > 86_300, seconds <= 86_400]).toEqual([true, true]);
  });

  it('stores the response of a fact under its Idempotency-Key in less than two thirds of its size', async () => {
    const path = towPath(await newTow(app), '/started');
    const first = await api(app).post(path).set('idempotency-key', idempotencyKey).send(WHEREABOUTS);
    const { fingerprint = '', ...answer } = await app.foundation.redis.hgetall(await storedKey());
    expect(fingerprint).toHaveLength(64);
    expect(Object.values(answer).join('').length).toBeLessThan((first.text.length * 2) / 3);
  });

  it('repeats a response that an earlier version stored as plain JSON', async () => {
    const path = towPath(await newTow(app), '/started');
    const start = () => api(app).post(path).set('idempotency-key', idempotencyKey).send(WHEREABOUTS);
    const first = await start();
    const { redis } = app.foundation;
    const key = await storedKey();
    const { fingerprint = '' } = await redis.hgetall(key);
    await redis.del(key);
    await redis.hset(key, { fingerprint, answer: first.text });
    expect([(await start()).status, (await start()).text]).toEqual([202, first.text]);
  });

  it('accepts an Idempotency-Key of 1 to 255 characters and refuses others with 422', async () => {
    const path = towPath(await newTow(app), '/started');
    for (const wrong of ['', ' ', 'x'.repeat(256)]) {
      const response = await api(app).post(path).set('idempotency-key', wrong).send(WHEREABOUTS);
      expect([response.status, fieldsOf(response)]).toEqual([422, ['Idempotency-Key']]);
    }
    await api(app).post(path).set('idempotency-key', 'x'.repeat(255)).send(WHEREABOUTS).expect(202);
  });
});

it.each(['started', 'detained', 'released', 'canceled', 'invoice', 'payment'] as const)(
  'refuses the fact %s a second time with 409 when the requests have no Idempotency-Key',
  async (event) => {
    const { path, body } = await SCENARIOS[event]();
    await api(app).post(path).send(body).expect(202);
    await api(app).post(path).send(body).expect(409);
  },
);

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
