import { request as httpRequest } from 'node:http';
import request, { type Response } from 'supertest';
import { signedOutVisitor } from '../console/visitor';
import { startApp, type App } from '../support/app';
import { linesOf } from '../support/captured-log';
import { useOwnRedis } from '../support/redis';
import { newApiKeyView } from '../../src/contracts/operator';
import { api, errorOf, newKey } from './client';

const redis = useOwnRedis();

let app: App;
beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'console' });
});
afterEach(() => app.stop());

const wrongKey = (index: number) => `thk_wrong-${index}`;

/** Sends requests with wrong keys one after the other. Returns their statuses. */
async function guess(times: number, to: Pick<App, 'consoleUrl' | 'apiKey'> = app): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) {
    statuses.push((await api(to, wrongKey(index)).get('/api/tows')).status);
  }
  return statuses;
}

function basic(path: string, password: string) {
  return request(app.consoleUrl).get(path).auth('ops', password);
}

function expectSlowed(response: Response): void {
  expect([response.status, errorOf(response).code]).toEqual([429, 'too_many_wrong_keys']);
  const seconds = Number(response.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
}

describe('operator API: after ten wrong API keys from one address', () => {
  it('answers the eleventh wrong API key of an address within a minute with 429 and Retry-After', async () => {
    expect(await guess(10)).toEqual(Array.from({ length: 10 }, () => 401));
    expectSlowed(await api(app, wrongKey(11)).get('/api/tows'));
  });

  it('accepts an API key that no process has seen before, also in a process that has just started', async () => {
    const right = await newKey(app, 'viewer');
    await guess(12);
    await api(app, right).get('/api/tows').expect(200);
    const restarted = await startApp({ redisUrl: redis.url, role: 'console' });
    try {
      expectSlowed(await api(restarted, wrongKey(1)).get('/api/tows'));
      await api(restarted, await newKey(restarted, 'crew'))
        .get('/api/tows')
        .expect(200);
    } finally {
      await restarted.stop();
    }
  });

  it('accepts a sign-in with a valid API key, and refuses one with a wrong key with 429', async () => {
    const right = await newKey(app, 'viewer');
    await guess(10);
    const wrong = await signedOutVisitor(app).post('/sign-in', { key: wrongKey(1) });
    expect([wrong.status, Number(wrong.get('retry-after')) > 0]).toEqual([429, true]);
    expect((await signedOutVisitor(app).post('/sign-in', { key: right })).status).toBe(303);
  });

  it('counts wrong sign-ins and the wrong API keys of all processes together', async () => {
    const other = await startApp({ redisUrl: redis.url, role: 'console' });
    try {
      for (let index = 0; index < 4; index += 1) {
        expect((await signedOutVisitor(other).post('/sign-in', { key: wrongKey(index) })).status).toBe(401);
      }
      expect(await guess(6)).toEqual(Array.from({ length: 6 }, () => 401));
      expectSlowed(await api(app, wrongKey(7)).get('/api/tows'));
      expectSlowed(await api(other, wrongKey(8)).get('/api/tows'));
    } finally {
      await other.stop();
    }
  });

  it('accepts valid API keys of any role on the API and the queue pages, for all clients of an address', async () => {
    const keys = [await newKey(app, 'viewer'), await newKey(app, 'ops')];
    for (const apiKey of keys) await api(app, apiKey).get('/api/tows');
    await guess(12);
    for (const apiKey of [...keys, app.apiKey]) await api(app, apiKey).get('/api/tows').expect(200);
    await basic('/queues/api/queues', app.apiKey).expect(200);
  });

  it('refuses an API key with 429 once it is revoked', async () => {
    const response = await api(app).post('/api/keys').send({ name: 'yard', role: 'viewer' });
    const { id, api_key: apiKey } = newApiKeyView.parse(response.body);
    await api(app, apiKey).get('/api/tows').expect(200);
    await guess(10);
    await api(app).delete(`/api/keys/${id}`).expect(204);
    expectSlowed(await api(app, apiKey).get('/api/tows'));
  });

  it('answers a request without an API key with 401, also after ten wrong keys from its address', async () => {
    await guess(10);
    await api(app, null).get('/api/tows').expect(401);
  });

  it('counts wrong API keys on the queue pages, the event stream and the API together, and limits all three', async () => {
    for (let index = 0; index < 5; index += 1) {
      await basic('/queues', wrongKey(index)).expect(401);
      await api(app, wrongKey(index)).get('/api/events').expect(401);
    }
    expectSlowed(await api(app, wrongKey(11)).get('/api/events'));
    expectSlowed(await api(app, wrongKey(11)).get('/api/tows'));
    const pages = await basic('/queues', wrongKey(11));
    expect(pages.status).toBe(429);
    expect(pages.headers).not.toHaveProperty('www-authenticate');
    expect(Number(pages.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('refuses ten of many wrong API keys that arrive at once with 401, and the others with 429', async () => {
  const responses = await Promise.all(
    Array.from({ length: 60 }, (_, index) => api(app, wrongKey(index)).get('/api/tows')),
  );
  const count = (status: number) => responses.filter((response) => response.status === status).length;
  expect([count(401), count(429)]).toEqual([10, 50]);
});

it('accepts many valid API keys that arrive at once for the first time', async () => {
  const keys = [];
  for (let index = 0; index < 25; index += 1) keys.push(await newKey(app, 'viewer'));
  const responses = await Promise.all(keys.map((apiKey) => api(app, apiKey).get('/api/tows')));
  expect(responses.map(({ status }) => status)).toEqual(keys.map(() => 200));
});

it('does not limit other addresses after ten wrong API keys from one address', async () => {
  await guess(10);
  // supertest cannot choose the local address of a request.
  const { port } = new URL(app.consoleUrl);
  const options = { port, host: '127.0.0.1', path: '/api/tows', localAddress: '127.0.0.2', agent: false };
  const other = httpRequest({ ...options, headers: { authorization: `Bearer ${wrongKey(1)}` } }).end();
  const statusCode = await new Promise((resolve, reject) => {
    other.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    other.once('error', (cause) => {
      reject(
        new Error('This test needs the local address 127.0.0.2. On macOS: ifconfig lo0 alias 127.0.0.2', { cause }),
      );
    });
  });
  expect(statusCode).toBe(401);
});

it('counts no API key as wrong while Redis fails', async () => {
  const apiKey = await newKey(app, 'viewer');
  await redis.ask('RENAME', '{towhook-main}:api-key-hashes', 'elsewhere');
  await redis.ask('SET', '{towhook-main}:api-key-hashes', 'not a hash');
  for (let index = 0; index < 15; index += 1) await api(app, apiKey).get('/api/tows').expect(503);
  await redis.ask('RENAME', 'elsewhere', '{towhook-main}:api-key-hashes');
  await api(app, apiKey).get('/api/tows').expect(200);
});

it('logs a series of wrong API keys from one address once, without the keys, and counts each key in the metrics', async () => {
  let metrics = '';
  const environment = { CONSOLE_OPEN_PATHS: 'metrics' };
  const lines = await linesOf({ redisUrl: redis.url, role: 'console', environment }, async (own) => {
    await guess(15, own);
    ({ text: metrics } = await request(own.consoleUrl).get('/metrics'));
  });
  const guessing = lines.filter((line) => line.includes('auth.guessing'));
  expect(guessing).toHaveLength(1);
  expect(JSON.parse(guessing[0] ?? '')).toMatchObject({ message: 'auth.guessing', address: '127.0.0.1' });
  expect(lines.join('\n')).not.toContain('thk_wrong');
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="wrong",installation="main"} 10');
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="slowed",installation="main"} 5');
});

test('ten wrong API keys of one visitor behind a named proxy do not slow another visitor behind it', async () => {
  const behindProxy = await startApp({
    redisUrl: redis.url,
    role: 'console',
    environment: { TRUST_PROXY: '127.0.0.1' },
  });
  try {
    const ask = (key: string, visitor: string) =>
      api(behindProxy, key).get('/api/tows').set('x-forwarded-for', visitor);
    for (let index = 0; index < 10; index += 1) await ask(wrongKey(index), '203.0.113.7').expect(401);

    expectSlowed(await ask(wrongKey(11), '203.0.113.7'));
    await ask(wrongKey(12), '203.0.113.8').expect(401);
    await ask(behindProxy.apiKey, '203.0.113.7').expect(200);
  } finally {
    await behindProxy.stop();
  }
});
