import { z } from 'zod';
import { useApp } from '../support/app';
import { errorOf, fieldsOf, newKey, post, towIn, towPath } from './client';
import { at, scenariosOn } from './scenarios';
import { newTow, WHEREABOUTS } from './world';

const app = useApp({ role: 'console' });

const SCENARIOS = scenariosOn(app);
const POST_ROUTES = Object.entries(SCENARIOS);
/** Their answers show a key, once; see api-keys.test.ts. */
const SHOWING_KEYS = ['createApiKey', 'rotateApiKey'];
const REPEATABLE = POST_ROUTES.filter(([name]) => !SHOWING_KEYS.includes(name));
const idempotencyKey = 'a-key-of-the-client';

describe.each(REPEATABLE)('%s', (_name, prepare) => {
  it('answers the same request under the same key byte for byte the same, and has its effect once', async () => {
    const { path, body, effects } = await prepare();
    const before = await effects();
    const first = await post(app, path, body, { idempotencyKey });
    expect(first.status).toBe(202);
    for (let turn = 0; turn < 2; turn += 1) {
      const again = await post(app, path, body, { idempotencyKey });
      expect([again.status, again.text]).toEqual([first.status, first.text]);
    }
    expect((await effects()) - before).toBe(1);
  });
});

describe.each(POST_ROUTES)('%s at the same time', (_name, prepare) => {
  it('has one effect for many clients under one key', async () => {
    const clients = await Promise.all(['day', 'night'].map((name) => newKey(app, 'ops', name)));
    const { path, body, effects } = await prepare();
    const before = await effects();
    const calls = Array.from({ length: 10 }, (_, index) =>
      post(app, path, body, { idempotencyKey, apiKey: clients[index % 2] ?? '' }),
    );
    const answers = await Promise.all(calls);
    const shown = answers.map(({ status, json }) => {
      const { api_key: _secret, ...rest } = z.record(z.string(), z.unknown()).parse(json);
      return [status, rest];
    });
    for (const one of shown) expect(one).toEqual(shown[0]);
    expect([201, 202]).toContain(shown[0]?.[0]);
    expect((await effects()) - before).toBe(1);
  });
});

const WITH_ANOTHER_BODY = POST_ROUTES.filter(
  ([name]) => !['retryReport', 'retryViolation', 'replayDelivery'].includes(name),
);

describe.each(WITH_ANOTHER_BODY)('%s', (_name, prepare) => {
  it('is refused 422 under a key that was used for another body, and has no effect', async () => {
    const { path, body, other, effects } = await prepare();
    await post(app, path, body, { idempotencyKey });
    const before = await effects();
    const answer = await post(app, path, other, { idempotencyKey });
    expect([answer.status, errorOf(answer).code]).toEqual([422, 'idempotency_key_reused']);
    expect(await effects()).toBe(before);
  });
});

describe('a key', () => {
  it('gives the first answer again although the tow has moved on', async () => {
    const ref = await newTow(app);
    const first = await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey });
    towIn(await post(app, towPath(ref, '/detained')));
    expect((await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey })).text).toBe(first.text);
  });

  it('stands for the same request however its JSON is spelled', async () => {
    const ref = await newTow(app);
    const first = await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey });
    const turned = Object.fromEntries(Object.entries(WHEREABOUTS).toReversed());
    const again = await post(app, towPath(ref, '/started'), JSON.stringify(turned, null, 3), { idempotencyKey });
    expect([again.status, again.text]).toEqual([202, first.text]);
  });

  it('belongs to its address: under another it is another', async () => {
    const [one, other] = [await newTow(app), await newTow(app)];
    for (const ref of [one, other]) towIn(await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey }));
    towIn(await post(app, towPath(one, '/detained'), {}, { idempotencyKey }));
  });

  it('remembers no failure', async () => {
    const ref = await newTow(app);
    expect((await post(app, towPath(ref, '/detained'), {}, { idempotencyKey })).status).toBe(409);
    expect((await post(app, towPath(ref, '/detained'), at('x'), { idempotencyKey })).status).toBe(409);
    towIn(await post(app, towPath(ref, '/started'), { ...WHEREABOUTS, ...at('08:00') }));
    expect((await post(app, towPath(ref, '/detained'), at('x'), { idempotencyKey })).status).toBe(422);
    expect(towIn(await post(app, towPath(ref, '/detained'), {}, { idempotencyKey })).state).toBe('detained');
  });

  it('opens nothing to whoever may not do the thing itself', async () => {
    const ref = await newTow(app);
    await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey });
    const apiKey = await newKey(app, 'viewer');
    expect((await post(app, towPath(ref, '/started'), WHEREABOUTS, { idempotencyKey, apiKey })).status).toBe(403);
  });

  it('is remembered for 24 hours', async () => {
    await post(app, towPath(await newTow(app), '/started'), WHEREABOUTS, { idempotencyKey });
    const keys = z.array(z.string()).parse(await app.redis.ask('KEYS', '*idempotency*'));
    expect(keys).toHaveLength(1);
    const seconds = Number(await app.redis.ask('TTL', keys[0] ?? ''));
    expect([seconds > 86_300, seconds <= 86_400]).toEqual([true, true]);
  });

  it('has 1 to 255 characters', async () => {
    const path = towPath(await newTow(app), '/started');
    for (const wrong of ['', ' ', 'x'.repeat(256)]) {
      const answer = await post(app, path, WHEREABOUTS, { idempotencyKey: wrong });
      expect([answer.status, fieldsOf(answer)]).toEqual([422, ['Idempotency-Key']]);
    }
    expect((await post(app, path, WHEREABOUTS, { idempotencyKey: 'x'.repeat(255) })).status).toBe(202);
  });
});

it.each(['started', 'detained', 'released', 'canceled', 'invoice', 'payment'] as const)(
  'without a key the same fact a second time is refused 409: %s',
  async (event) => {
    const { path, body } = await SCENARIOS[event]();
    expect((await post(app, path, body)).status).toBe(202);
    expect((await post(app, path, body)).status).toBe(409);
  },
);
