import express from 'express';
import { ROUTES, type Route } from '../../src/contracts/operator-routes';
import { ROLES } from '../../src/domain/vocabulary';
import { withSessions } from '../../src/operator/authenticate';
import { serveEvents } from '../../src/operator/events';
import { listen, type Listener } from '../../src/platform/http';
import { useApp, type App } from '../support/app';
import { linesOf } from '../support/captured-log';
import { eventually } from '../support/eventually';
import { imageOf } from '../support/images';
import { clearDisk, formOf, postForm, report, REQUIRED, violationIn } from './forms';
import { newKey, towIn, towPath } from './client';
import { serving } from './in-process';
import { openSessions, operatorWith, signedIn } from './session-world';
import { newTow } from './world';

const app = useApp({ role: 'console' });
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

/** An answer that is read to its end, whoever looks at it. */
async function ask(path: string, headers: Readonly<Record<string, string>>, method = 'GET'): Promise<Response> {
  const response = await fetch(`${listener.url}${path}`, { method, headers });
  return new Response(await response.arrayBuffer(), response);
}

async function outcomeOf(answer: Promise<Response>): Promise<[status: number, code: unknown]> {
  const response = await answer;
  const body: unknown = await response.json();
  return [response.status, typeof body === 'object' && body !== null && 'code' in body ? body.code : null];
}

const PATHS = Object.entries<Route>(ROUTES).map(([name, { method, path, role }]) => {
  const where = path.replaceAll(/:\w+/g, 'unknown');
  return { name, method: method.toUpperCase(), path: where, role };
});
const READS = PATHS.filter(({ method }) => method === 'GET');

describe('whoever is signed in on the console', () => {
  it.each(READS)(
    'reads $name with the role of their key, and no cache keeps what they read',
    async ({ path, role }) => {
      const { cookie } = await person(role);
      const response = await ask(path, { cookie });
      expect([200, 404, 422]).toContain(response.status);
      expect(response.headers.get('cache-control')).toBe('private, no-store');
      const weaker = ROLES[ROLES.indexOf(role) - 1];
      if (weaker === undefined) return;
      const other = await person(weaker);
      expect(await outcomeOf(ask(path, { cookie: other.cookie }))).toEqual([403, 'role_not_allowed']);
    },
  );

  it.each(PATHS.filter(({ method }) => method !== 'GET'))(
    'changes nothing by it: $name is refused 401, since another site may have sent it',
    async ({ path, method }) => {
      const { cookie } = await person('ops');
      expect(await outcomeOf(ask(path, { cookie }, method))).toEqual([401, 'not_authenticated']);
    },
  );

  it('sees images and photos', async () => {
    await clearDisk(app);
    const file = { name: 'front.png', bytes: imageOf(5000) };
    const { id } = violationIn(await report(app, REQUIRED, [file]));
    const ref = await newTow(app);
    const { dispatch } = towIn(await postForm(app, towPath(ref, '/photos'), formOf({}, [file])));
    const { cookie } = await person('viewer');
    for (const path of [`/api/violations/${id}/images/1`, towPath(ref, `/photos/${dispatch.photos[0]?.id ?? ''}`)]) {
      const response = await ask(path, { cookie });
      expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
      expect(Buffer.from(await response.arrayBuffer()).equals(file.bytes)).toBe(true);
      expect((await ask(path, {})).status).toBe(401);
    }
  });

  it('is taken for who the key says, where a request has one', async () => {
    const { cookie } = await person('ops');
    const viewer = await newKey(app, 'viewer');
    for (const authorization of ['Bearer thk_wrong', 'Bearer ', `Basic ${btoa('ops:wrong')}`, '']) {
      // An empty header is sent, too.
      const expected = [401, 'not_authenticated'];
      expect(await outcomeOf(ask('/api/keys', { cookie, authorization }))).toEqual(expected);
    }
    const answer = ask('/api/keys', { cookie, authorization: `Bearer ${viewer}` });
    expect(await outcomeOf(answer)).toEqual([403, 'role_not_allowed']);
  });

  it('is nobody once they signed out, or their key was revoked', async () => {
    const [one, other] = [await person('viewer'), await person('viewer')];
    for (const { cookie } of [one, other]) expect((await ask('/api/tows', { cookie })).status).toBe(200);
    await one.signOut();
    await other.revokeKey();
    for (const { cookie } of [one, other]) {
      const response = await ask('/api/tows', { cookie });
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    }
  });

  it('is told 503 while Redis cannot say who they are, as with a key', async () => {
    const { cookie, apiKey } = await person('viewer');
    await app.redis.kill();
    for (const headers of [{ cookie }, { authorization: `Bearer ${apiKey}` }]) {
      const response = await ask('/api/tows', headers);
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    }
    await redisIsBack();
  });
});

describe('the queue pages', () => {
  it('are shown to whoever is signed in with the role ops, and to no other role', async () => {
    const { cookie } = await person('ops');
    for (const path of ['/queues/', '/queues/api/queues']) {
      const shown = await ask(path, { cookie });
      expect([shown.status, shown.headers.get('cache-control')]).toEqual([200, 'private, no-store']);
    }
    for (const role of ['viewer', 'crew', 'dispatcher'] as const) {
      const refused = await ask('/queues/', { cookie: (await person(role)).cookie });
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic/)]);
    }
  });

  it('take no change from a session, and ask for the password as ever where there is none', async () => {
    const { cookie } = await person('ops');
    const change = await ask('/queues/api/queues/reports/pause', { cookie }, 'PUT');
    const wrong = await ask('/queues/', { cookie, authorization: `Basic ${btoa('ops:wrong')}` });
    const nobody = await ask('/queues/', {});
    for (const refused of [change, wrong, nobody]) {
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([401, expect.stringMatching(/^Basic/)]);
    }
  });
});

describe('the stream of events', () => {
  async function watching<T>(doing: (watch: (cookie: string) => Promise<Response>) => Promise<T>): Promise<T> {
    const application = express();
    const authenticator = withSessions(sessions.signIn, sessions.sessionActor);
    const events = serveEvents(application, authenticator, { clock: app.foundation.clock, heartbeatMs: 50 });
    return serving(application, async (url) => {
      try {
        return await doing((cookie) => fetch(`${url}/api/events`, { headers: { cookie } }));
      } finally {
        events.close();
      }
    });
  }

  it.each([
    ['they sign out', 'signOut'],
    ['their key is revoked', 'revokeKey'],
  ] as const)('ends for whoever is signed in once %s, and goes on for others', async (_what, end) => {
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
  });

  it('goes on while Redis cannot say whether the session has ended', async () => {
    const { cookie } = await person('viewer');
    await watching(async (watch) => {
      const reader = (await watch(cookie)).body?.getReader();
      await app.redis.kill();
      for (let heard = 0; heard < 5; heard += 1) expect((await reader?.read())?.done).toBe(false);
      await redisIsBack();
      await reader?.cancel();
    });
  });

  it('is refused to a cookie that means nobody', () =>
    watching(async (watch) => expect((await watch('session=unknown')).status).toBe(401)));
});

it('nothing of a session is logged: no cookie, no id, no hash', async () => {
  const secrets: string[] = [];
  const lines = await linesOf({ redisUrl: app.redis.url, role: 'console' }, async (own) => {
    const ownSessions = openSessions(own.foundation);
    const somebody = await signedIn(own, ownSessions, 'ops');
    secrets.push(somebody.id, somebody.cookie, somebody.keyHash, somebody.apiKey);
    await serving(operatorWith(own.foundation, ownSessions).app, async (url) => {
      const headers = { cookie: somebody.cookie };
      for (const path of ['/api/tows', '/api/unknown', '/queues/', '/api/tows?limit=x'])
        await fetch(`${url}${path}`, { headers });
      await fetch(`${url}/api/tows/x/started`, { method: 'POST', headers, body: '{' });
      await app.redis.ask('SET', `{p0}:session:${somebody.id}`, 'no JSON');
      await fetch(`${url}/api/tows`, { headers });
      await app.redis.kill();
      expect((await fetch(`${url}/api/tows`, { headers })).status).toBe(503);
      await redisIsBack(own);
    });
  });
  const text = lines.join('\n');
  expect(text).toContain('"api.failed"');
  for (const secret of [...secrets, 'session=', 'theme=']) expect(text).not.toContain(secret);
});
