import request from 'supertest';
import { ROUTES } from '../../src/contracts/operator-routes';
import type { Route } from '../../src/contracts/routes/route';
import { ROLES } from '../../src/domain/vocabulary';
import { listen, type Listener } from '../../src/platform/http';
import { useApp, type App } from '../support/app';
import { linesOf } from '../support/captured-log';
import { eventually } from '../support/eventually';
import { imageOf } from '../support/images';
import { clearDisk, formOf, postForm, report, REQUIRED, violationIn } from './forms';
import { errorOf, newKey, towIn, towPath, type ApiResponse } from './client';
import { openSessions, operatorWith, serving, signedIn, startEventStream } from './in-process';
import { newTow } from './world';

const app = useApp({ role: 'console', ownRedis: true });
let sessions: ReturnType<typeof openSessions>;
let listener: Listener;
beforeAll(async () => {
  sessions = openSessions(app.foundation);
  const ready = () => Promise.resolve({ ready: true, details: {} });
  const { app: application } = operatorWith(app.foundation, sessions);
  listener = await listen(application, { ready }, { host: '127.0.0.1', port: 0 });
});
afterAll(() => listener.stop(100));

async function redisIsBack({ foundation }: Pick<App, 'foundation'> = app): Promise<void> {
  await app.redis.start();
  await eventually(() => foundation.redis.ping());
}

const person = (role: (typeof ROLES)[number]) => signedIn(app, sessions, role);

/** A GET request with these headers and no API key. */
function read(path: string, headers: Readonly<Record<string, string>>): request.Test {
  return request(listener.url).get(path).set(headers);
}

function outcomeOf(response: ApiResponse): [status: number, code: unknown] {
  return [response.status, errorOf(response).code];
}

const PATHS = Object.entries<Route>(ROUTES).map(([name, { method, path, role }]) => {
  const where = path.replaceAll(/:\w+/g, 'unknown');
  return { name, method, path: where, role };
});
const READS = PATHS.filter(({ method }) => method === 'get');

describe('operator API: console sessions', () => {
  it.each(READS)(
    'a session may read $name with the role of its key, and the response is not cached',
    async ({ path, role }) => {
      const { cookie } = await person(role);
      const response = await read(path, { cookie });
      expect([200, 404, 422]).toContain(response.status);
      expect(response.get('cache-control')).toBe('private, no-store');
      const weaker = ROLES[ROLES.indexOf(role) - 1];
      if (weaker === undefined) return;
      const other = await person(weaker);
      expect(outcomeOf(await read(path, { cookie: other.cookie }))).toEqual([403, 'role_not_allowed']);
    },
  );

  // Another site may have sent the request with the cookie (CSRF).
  it.each(PATHS.filter(({ method }) => method !== 'get'))(
    'a session may not call $name: a change without an API key is refused with 401',
    async ({ path, method }) => {
      const { cookie } = await person('ops');
      const response = await request(listener.url)[method](path).set({ cookie });
      expect(outcomeOf(response)).toEqual([401, 'not_authenticated']);
    },
  );

  it('a session may read violation images and tow photos, a request without one may not', async () => {
    await clearDisk(app);
    const file = { name: 'front.png', bytes: imageOf(5000) };
    const { id } = violationIn(await report(app, REQUIRED, [file]));
    const ref = await newTow(app);
    const { dispatch } = towIn(await postForm(app, towPath(ref, '/photos'), formOf({}, [file])));
    const { cookie } = await person('viewer');
    for (const path of [`/api/violations/${id}/images/1`, towPath(ref, `/photos/${dispatch.photos[0]?.id ?? ''}`)]) {
      const response = await read(path, { cookie }).expect(200).expect('cache-control', 'private, no-store');
      expect(response.body).toEqual(file.bytes);
      await read(path, {}).expect(401);
    }
  });

  it('a request with a session and an API key is judged by the key alone', async () => {
    const { cookie } = await person('ops');
    const viewer = await newKey(app, 'viewer');
    for (const authorization of ['Bearer thk_wrong', 'Bearer ', `Basic ${btoa('ops:wrong')}`, '']) {
      // The empty string is sent as an empty header.
      const refused = await read('/api/keys', { cookie, authorization });
      expect(outcomeOf(refused)).toEqual([401, 'not_authenticated']);
    }
    const forbidden = await read('/api/keys', { cookie, authorization: `Bearer ${viewer}` });
    expect(outcomeOf(forbidden)).toEqual([403, 'role_not_allowed']);
  });

  it('a session is refused with 401 after sign-out or after its key is revoked', async () => {
    const [one, other] = [await person('viewer'), await person('viewer')];
    for (const { cookie } of [one, other]) await read('/api/tows', { cookie }).expect(200);
    await one.signOut();
    await other.revokeKey();
    for (const { cookie } of [one, other]) {
      await read('/api/tows', { cookie }).expect(401).expect('www-authenticate', 'Bearer');
    }
  });

  it('answers sessions and API keys with 503 and Retry-After while Redis is down', async () => {
    const { cookie, apiKey } = await person('viewer');
    await app.redis.kill();
    for (const headers of [{ cookie }, { authorization: `Bearer ${apiKey}` }]) {
      await read('/api/tows', headers).expect(503).expect('retry-after', '2');
    }
    await redisIsBack();
  });
});

describe('queue pages: console sessions', () => {
  it('shows the queue pages to a session with the role ops and to no other role', async () => {
    const { cookie } = await person('ops');
    for (const path of ['/queues/', '/queues/api/queues']) {
      await read(path, { cookie }).expect(200).expect('cache-control', 'private, no-store');
    }
    for (const role of ['viewer', 'crew', 'dispatcher'] as const) {
      const { cookie: weaker } = await person(role);
      await read('/queues/', { cookie: weaker })
        .expect(401)
        .expect('www-authenticate', /^Basic/);
    }
  });

  it('the queue pages ask for the Basic password on a change, on a wrong password and without a session', async () => {
    const { cookie } = await person('ops');
    const change = request(listener.url).put('/queues/api/queues/reports/pause').set({ cookie });
    const wrongPassword = read('/queues/', { cookie, authorization: `Basic ${btoa('ops:wrong')}` });
    const withoutSession = read('/queues/', {});
    for (const call of [change, wrongPassword, withoutSession]) {
      await call.expect(401).expect('www-authenticate', /^Basic/);
    }
  });
});

describe('event stream: console sessions', () => {
  /** Runs `doing` with a short heartbeat. The stream is read with fetch: supertest resolves only when a response has ended. */
  async function watching<T>(doing: (watch: (cookie: string) => Promise<Response>) => Promise<T>): Promise<T> {
    const stream = await startEventStream(app.foundation, { heartbeatMs: 50 }, sessions.sessionActor);
    try {
      return await doing((cookie) => fetch(`${stream.url}/api/events`, { headers: { cookie } }));
    } finally {
      await stream.stop();
    }
  }

  it.each([
    ['the user signs out', 'signOut'],
    ['the key is revoked', 'revokeKey'],
  ] as const)(
    'ends the event stream of a session once %s and keeps the streams of others open',
    async (_event, end) => {
      const [one, other] = [await person('viewer'), await person('viewer')];
      await watching(async (watch) => {
        const [ended, goesOn] = [await watch(one.cookie), await watch(other.cookie)];
        expect([ended.status, ended.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
        await one[end]();
        expect(await ended.text()).toContain('still here');
        const reader = goesOn.body?.getReader();
        expect((await reader?.read())?.done).toBe(false);
        await reader?.cancel();
      });
    },
  );

  it('keeps the event stream of a session open while Redis is down', async () => {
    const { cookie } = await person('viewer');
    await watching(async (watch) => {
      const reader = (await watch(cookie)).body?.getReader();
      await app.redis.kill();
      for (let heard = 0; heard < 5; heard += 1) expect((await reader?.read())?.done).toBe(false);
      await redisIsBack();
      await reader?.cancel();
    });
  });

  it('refuses the event stream to an unknown session cookie with 401', () =>
    watching(async (watch) => expect((await watch('session=unknown')).status).toBe(401)));
});

it('logs no session cookie, session id, API key or key hash', async () => {
  const secrets: string[] = [];
  const lines = await linesOf({ redisUrl: app.redis.url, role: 'console' }, async (own) => {
    const ownSessions = openSessions(own.foundation);
    const { id, cookie, keyHash, apiKey } = await signedIn(own, ownSessions, 'ops');
    secrets.push(id, cookie, keyHash, apiKey);
    await serving(operatorWith(own.foundation, ownSessions).app, async (url) => {
      for (const path of ['/api/tows', '/api/unknown', '/queues/', '/api/tows?limit=x']) {
        await request(url).get(path).set({ cookie });
      }
      await request(url).post('/api/tows/x/started').set({ cookie }).type('text/plain').send('{');
      await app.redis.ask('SET', `{towhook-main}:session:${id}`, 'no JSON');
      await request(url).get('/api/tows').set({ cookie });
      await app.redis.kill();
      await request(url).get('/api/tows').set({ cookie }).expect(503);
      await redisIsBack(own);
    });
  });
  const text = lines.join('\n');
  expect(text).toContain('"api.failed"');
  for (const secret of [...secrets, 'session=', 'theme=']) expect(text).not.toContain(secret);
});
