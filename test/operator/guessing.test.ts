import { request as httpRequest } from 'node:http';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import request, { type Response } from 'supertest';
import { createGuessing, VALID_LATELY_MS, WINDOW_MS, WRONG_KEYS_MAX } from '../../src/operator/guessing';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startApp, type App } from '../support/app';
import { linesOf } from '../support/captured-log';
import { recordedLog } from '../support/recorded-log';
import { useOwnRedis } from '../support/redis';
import { newApiKeyView } from '../../src/contracts/operator';
import { api, errorOf, newKey } from './client';

const redis = useOwnRedis();

/** A separate process for each test, because a process remembers the addresses of wrong keys. */
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

  it('does not look up unknown API keys, right or wrong, after ten wrong keys from their address', async () => {
    const right = await newKey(app, 'viewer');
    await guess(10);
    // The key is valid, but this process has not seen it yet.
    expectSlowed(await api(app, right).get('/api/tows'));
    await redis.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
    await redis.ask('SLOWLOG', 'RESET');
    expectSlowed(await api(app, wrongKey(11)).get('/api/tows'));
    expect(JSON.stringify(await redis.ask('SLOWLOG', 'GET', '-1')).toLowerCase()).not.toContain('evalsha');
  });

  it('accepts API keys that were valid recently, for all clients of an address with ten wrong keys', async () => {
    const keys = [await newKey(app, 'viewer'), await newKey(app, 'ops')];
    for (const apiKey of keys) await api(app, apiKey).get('/api/tows');
    await guess(12);
    for (const apiKey of [...keys, app.apiKey]) await api(app, apiKey).get('/api/tows').expect(200);
    await basic('/queues/api/queues', app.apiKey).expect(200);
  });

  it('refuses a recently valid and then revoked API key with 401, and with 429 from then on', async () => {
    const response = await api(app).post('/api/keys').send({ name: 'yard', role: 'viewer' });
    const { id, api_key: apiKey } = newApiKeyView.parse(response.body);
    await api(app, apiKey).get('/api/tows').expect(200);
    await guess(10);
    await api(app).delete(`/api/keys/${id}`).expect(204);
    await api(app, apiKey).get('/api/tows').expect(401);
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

it('looks up at most ten of many wrong API keys that arrive at once', async () => {
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
  await redis.ask('RENAME', '{p0}:api-key-hashes', 'elsewhere');
  await redis.ask('SET', '{p0}:api-key-hashes', 'not a hash');
  for (let index = 0; index < 15; index += 1) await api(app, apiKey).get('/api/tows').expect(503);
  await redis.ask('RENAME', 'elsewhere', '{p0}:api-key-hashes');
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
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="wrong"} 10');
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="slowed"} 5');
});

describe('limit of wrong API keys', () => {
  const address = '192.0.2.7';
  let atMs = 0;
  const clock = { ...systemClock, monotonicMs: () => atMs };
  const open = () => createGuessing({ clock, log: silentLog, metrics: { keyRefused: () => {} } });
  const noHolder = () => Promise.resolve(null);
  const knownHolder = () => Promise.resolve('a holder');

  it('looks up ten wrong API keys in any window of a minute, and accepts the next one after the returned wait', async () => {
    const guessing = open();
    const kinds: string[] = [];
    for (let second = 0; second < 180; second += 1) {
      atMs = second * 1000;
      const { kind } = await guessing.check({ address, hash: `h${second}` }, noHolder);
      kinds.push(kind);
      const recent = kinds.slice(-WINDOW_MS / 1000).filter((one) => one === 'wrong').length;
      expect(recent).toBeLessThanOrEqual(WRONG_KEYS_MAX);
    }
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(3 * WRONG_KEYS_MAX);
    const slowed = await guessing.check({ address, hash: 'again' }, noHolder);
    if (slowed.kind !== 'slowed') throw new Error(slowed.kind);
    atMs += slowed.retryAfterMs;
    expect((await guessing.check({ address, hash: 'again' }, noHolder)).kind).toBe('wrong');
  });

  it('accepts a recently valid API key from a limited address until some minutes after its last use', async () => {
    const guessing = open();
    const use = () => guessing.check({ address, hash: 'right' }, knownHolder);
    await use();
    atMs += VALID_LATELY_MS - 1;
    for (let index = 0; index < 10; index += 1) await guessing.check({ address, hash: `h${index}` }, noHolder);
    expect(await use()).toEqual({ kind: 'held', holder: 'a holder' });
    atMs += VALID_LATELY_MS;
    for (let index = 0; index < 10; index += 1) await guessing.check({ address, hash: `h${index}` }, noHolder);
    expect((await use()).kind).toBe('slowed');
  });

  it('forgets the oldest addresses with wrong API keys when there are more than ten thousand', async () => {
    const guessing = open();
    const from = (index: number) => guessing.check({ address: `198.51.100.${index}`, hash: 'h' }, noHolder);
    for (let index = 0; index < 10; index += 1) await from(0);
    expect((await from(0)).kind).toBe('slowed');
    for (let index = 1; index < 10_000; index += 1) await from(index);
    expect((await from(0)).kind).toBe('slowed');
    await from(10_000);
    expect((await from(0)).kind).toBe('wrong');
  });

  it.each([
    ['wrong', null, { looked: 10, wrong: 10, slowed: 50, held: 0 }],
    ['right', 'a holder', { looked: 60, wrong: 0, slowed: 0, held: 60 }],
  ])(
    'looks up at most ten API keys of an address at a time when many arrive at once: all keys %s',
    async (_what, holder, expected) => {
      const guessing = open();
      const asked: (() => void)[] = [];
      const holderOf = () => new Promise<string | null>((resolve) => asked.push(() => resolve(holder)));
      const checks = Array.from({ length: 60 }, (_, index) => guessing.check({ address, hash: `h${index}` }, holderOf));
      let looked = 0;
      const answered = Promise.all(checks).then((all) => all.map(({ kind }) => kind));
      let kinds: string[] | null = null;
      while (kinds === null) {
        expect(asked.length - looked).toBeLessThanOrEqual(10);
        for (const answer of asked.slice(looked)) answer();
        looked = asked.length;
        kinds = await Promise.race([answered, turnOfTheLoop(null)]);
      }
      const count = (kind: string) => kinds?.filter((one) => one === kind).length;
      expect({ looked, wrong: count('wrong'), slowed: count('slowed'), held: count('held') }).toEqual(expected);
    },
  );

  it('logs a warning with the address of wrong API keys', async () => {
    const { log, lines } = recordedLog();
    const guessing = createGuessing({ clock, log, metrics: { keyRefused: () => {} } });
    for (let index = 0; index < 11; index += 1) await guessing.check({ address, hash: `h${index}` }, noHolder);
    expect(lines).toEqual([{ level: 'warn', event: 'auth.guessing', address }]);
  });
});
