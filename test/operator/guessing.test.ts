import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { createGuessing, VALID_LATELY_MS, WINDOW_MS, WRONG_KEYS_MAX } from '../../src/operator/guessing';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { startApp, type App } from '../support/app';
import { linesOf } from '../support/captured-log';
import { recordedLog } from '../support/recorded-log';
import { useRedis } from '../support/redis';
import { call, errorOf, get, newKey, type Answer } from './client';

const redis = useRedis();

/** A process of its own for each test: it remembers who guessed. */
let app: App;
beforeEach(async () => {
  app = await startApp({ redisUrl: redis.url, role: 'console' });
});
afterEach(() => app.stop());

const wrongKey = (index: number) => `thk_wrong-${index}`;

/** Calls with wrong keys, one after the other; returns their statuses. */
async function guess(times: number, to: Pick<App, 'consoleUrl' | 'apiKey'> = app): Promise<number[]> {
  const statuses: number[] = [];
  for (let index = 0; index < times; index += 1) {
    statuses.push((await get(to, '/api/tows', { apiKey: wrongKey(index) })).status);
  }
  return statuses;
}

function basic(path: string, password: string) {
  const authorization = `Basic ${Buffer.from(`ops:${password}`).toString('base64')}`;
  return fetch(`${app.consoleUrl}${path}`, { headers: { authorization } });
}

function expectSlowed(answer: Answer): void {
  expect([answer.status, errorOf(answer).code]).toEqual([429, 'too_many_wrong_keys']);
  const seconds = Number(answer.headers.get('retry-after'));
  expect(seconds).toBeGreaterThan(0);
  expect(seconds).toBeLessThanOrEqual(60);
}

describe('after ten wrong keys from one address', () => {
  it('a further one is answered 429 and told when to come back', async () => {
    expect(await guess(10)).toEqual(Array.from({ length: 10 }, () => 401));
    expectSlowed(await get(app, '/api/tows', { apiKey: wrongKey(11) }));
  });

  it('a key is not even looked at, right or wrong', async () => {
    const right = await newKey(app, 'viewer');
    await guess(10);
    // Neither was ever used in this process; the configured key was, to make the other.
    expectSlowed(await get(app, '/api/tows', { apiKey: right }));
    await redis.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0');
    await redis.ask('SLOWLOG', 'RESET');
    expectSlowed(await get(app, '/api/tows', { apiKey: wrongKey(11) }));
    expect(JSON.stringify(await redis.ask('SLOWLOG', 'GET', '-1')).toLowerCase()).not.toContain('evalsha');
  });

  it('a key that was valid lately goes on, for whoever shares the address', async () => {
    const keys = [await newKey(app, 'viewer'), await newKey(app, 'ops')];
    for (const apiKey of keys) await get(app, '/api/tows', { apiKey });
    await guess(12);
    for (const apiKey of [...keys, app.apiKey]) expect((await get(app, '/api/tows', { apiKey })).status).toBe(200);
    expect((await basic('/queues/api/queues', app.apiKey)).status).toBe(200);
  });

  it('a key that was valid lately and is revoked since is refused 401', async () => {
    const { json } = await call(app, ['POST', '/api/keys', { name: 'yard', role: 'viewer' }]);
    const { id, api_key: apiKey } = Object.fromEntries(Object.entries(json ?? {}));
    expect((await get(app, '/api/tows', { apiKey: String(apiKey) })).status).toBe(200);
    await guess(10);
    expect((await call(app, ['DELETE', `/api/keys/${String(id)}`])).status).toBe(204);
    expect((await get(app, '/api/tows', { apiKey: String(apiKey) })).status).toBe(401);
    expectSlowed(await get(app, '/api/tows', { apiKey: String(apiKey) }));
  });

  it('a call without a key is told so as ever', async () => {
    await guess(10);
    expect((await get(app, '/api/tows', { apiKey: null })).status).toBe(401);
  });

  it('a key is treated the same on the queue pages and on the event stream, and all of them count', async () => {
    for (let index = 0; index < 5; index += 1) {
      expect((await basic('/queues', wrongKey(index))).status).toBe(401);
      expect((await get(app, '/api/events', { apiKey: wrongKey(index) })).status).toBe(401);
    }
    expectSlowed(await get(app, '/api/events', { apiKey: wrongKey(11) }));
    expectSlowed(await get(app, '/api/tows', { apiKey: wrongKey(11) }));
    const pages = await basic('/queues', wrongKey(11));
    expect([pages.status, pages.headers.get('www-authenticate')]).toEqual([429, null]);
    expect(Number(pages.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

it('wrong keys sent all at once are no more than ten looked at', async () => {
  const answers = await Promise.all(
    Array.from({ length: 60 }, (_, index) => get(app, '/api/tows', { apiKey: wrongKey(index) })),
  );
  const count = (status: number) => answers.filter((answer) => answer.status === status).length;
  expect([count(401), count(429)]).toEqual([10, 50]);
});

it('valid keys never seen before, sent all at once, are all let in', async () => {
  const keys = [];
  for (let index = 0; index < 25; index += 1) keys.push(await newKey(app, 'viewer'));
  const answers = await Promise.all(keys.map((apiKey) => get(app, '/api/tows', { apiKey })));
  expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200));
});

it('another address is not slowed', async () => {
  await guess(10);
  // All of 127.0.0.0/8 is this machine, where the system lets it be called from.
  const probe = createServer().listen(0, '127.0.0.2');
  const isHere = await once(probe, 'listening').then(
    () => true,
    () => false,
  );
  probe.close();
  if (!isHere) return;
  const { port } = new URL(app.consoleUrl);
  const options = { port, host: '127.0.0.1', path: '/api/tows', localAddress: '127.0.0.2', agent: false };
  const other = httpRequest({ ...options, headers: { authorization: `Bearer ${wrongKey(1)}` } }).end();
  const statusCode = await new Promise((resolve) => {
    other.once('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    });
  });
  expect(statusCode).toBe(401);
});

it('a Redis that fails makes nobody a guesser', async () => {
  const apiKey = await newKey(app, 'viewer');
  await redis.ask('RENAME', '{p0}:api-key-hashes', 'elsewhere');
  await redis.ask('SET', '{p0}:api-key-hashes', 'not a hash');
  for (let index = 0; index < 15; index += 1) expect((await get(app, '/api/tows', { apiKey })).status).toBe(503);
  await redis.ask('RENAME', 'elsewhere', '{p0}:api-key-hashes');
  expect((await get(app, '/api/tows', { apiKey })).status).toBe(200);
});

it('guessing is logged once in a while with its address alone, and counted', async () => {
  let metrics = '';
  const lines = await linesOf({ redisUrl: redis.url, role: 'console' }, async (own) => {
    await guess(15, own);
    metrics = await (await fetch(`${own.consoleUrl}/metrics`)).text();
  });
  const guessing = lines.filter((line) => line.includes('auth.guessing'));
  expect(guessing).toHaveLength(1);
  expect(JSON.parse(guessing[0] ?? '')).toMatchObject({ message: 'auth.guessing', address: '127.0.0.1' });
  expect(lines.join('\n')).not.toContain('thk_wrong');
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="wrong"} 10');
  expect(metrics).toContain('towhook_api_keys_refused_total{reason="slowed"} 5');
});

describe('as time goes by', () => {
  const address = '192.0.2.7';
  let atMs = 0;
  const clock = { ...systemClock, monotonicMs: () => atMs };
  const open = () => createGuessing({ clock, log: silentLog, metrics: { keyRefused: () => {} } });
  const nobody = () => Promise.resolve(null);
  const somebody = () => Promise.resolve('somebody');

  it('as many wrong keys are looked at within any minute, and the wait that is told is enough', async () => {
    const guessing = open();
    const kinds: string[] = [];
    for (let second = 0; second < 180; second += 1) {
      atMs = second * 1000;
      const { kind } = await guessing.check({ address, hash: `h${second}` }, nobody);
      kinds.push(kind);
      const lately = kinds.slice(-WINDOW_MS / 1000).filter((one) => one === 'wrong').length;
      expect(lately).toBeLessThanOrEqual(WRONG_KEYS_MAX);
    }
    expect(kinds.filter((kind) => kind === 'wrong')).toHaveLength(3 * WRONG_KEYS_MAX);
    const slowed = await guessing.check({ address, hash: 'again' }, nobody);
    if (slowed.kind !== 'slowed') throw new Error(slowed.kind);
    atMs += slowed.retryAfterMs;
    expect((await guessing.check({ address, hash: 'again' }, nobody)).kind).toBe('wrong');
  });

  it('a key counts as valid lately for some minutes after its last use', async () => {
    const guessing = open();
    const use = () => guessing.check({ address, hash: 'right' }, somebody);
    await use();
    atMs += VALID_LATELY_MS - 1;
    for (let index = 0; index < 10; index += 1) await guessing.check({ address, hash: `h${index}` }, nobody);
    expect(await use()).toEqual({ kind: 'held', holder: 'somebody' });
    atMs += VALID_LATELY_MS;
    for (let index = 0; index < 10; index += 1) await guessing.check({ address, hash: `h${index}` }, nobody);
    expect((await use()).kind).toBe('slowed');
  });

  it('guesses from very many addresses are forgotten, oldest first, before they fill the memory', async () => {
    const guessing = open();
    const from = (index: number) => guessing.check({ address: `198.51.100.${index}`, hash: 'h' }, nobody);
    for (let index = 0; index < 10; index += 1) await from(0);
    expect((await from(0)).kind).toBe('slowed');
    for (let index = 1; index < 10_000; index += 1) await from(index);
    expect((await from(0)).kind).toBe('slowed');
    await from(10_000);
    expect((await from(0)).kind).toBe('wrong');
  });

  it.each([
    ['wrong', null, { looked: 10, wrong: 10, slowed: 50, held: 0 }],
    ['right', 'somebody', { looked: 60, wrong: 0, slowed: 0, held: 60 }],
  ])('of keys that all come at once ten are under way at a time: all %s', async (_what, holder, expected) => {
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
  });

  it('a warning names the address of each guesser to the log it is given', async () => {
    const { log, lines } = recordedLog();
    const guessing = createGuessing({ clock, log, metrics: { keyRefused: () => {} } });
    for (let index = 0; index < 11; index += 1) await guessing.check({ address, hash: `h${index}` }, nobody);
    expect(lines).toEqual([{ level: 'warn', event: 'auth.guessing', address }]);
  });
});
