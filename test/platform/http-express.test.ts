import { IncomingMessage, ServerResponse } from 'node:http';
import express, { Router, type ErrorRequestHandler, type Express } from 'express';
import { call, listening, stopListeners } from './listeners';
import { portOf } from '../support/server-port';

afterEach(stopListeners);

const refuse: ErrorRequestHandler = (error, _request, response, _next) => {
  response.status(500).json({ code: 'broke', message: error instanceof Error ? error.message : 'unknown' });
};

/** What an application is made of: parameters, queries, bodies, routers, sub-applications and faults. */
function application(): Express {
  const inner = express();
  inner.get('/where', (request, response) => {
    response.json({ base: request.baseUrl, path: request.path, isInner: request.app === inner });
  });
  const router = Router();
  router.get('/:part', (request, response) => void response.json({ part: request.params.part, base: request.baseUrl }));

  const app = express();
  app.get('/tows/:ref', (request, response) => {
    response.set('x-seen', request.get('x-sent') ?? '').json({ ref: request.params.ref, query: request.query });
  });
  app.post('/echo', express.json(), (request, response) => void response.status(201).json(request.body));
  app.get('/moved', (_request, response) => response.redirect(302, '/tows/1'));
  app.use('/router', router);
  app.use('/inner', inner);
  app.get('/inner-gone', (request, response) => void response.json({ isOuter: request.app === app }));
  app.get('/throws', () => {
    throw new Error('thrown');
  });
  app.get('/rejects', () => Promise.reject(new Error('rejected')));
  return app;
}

/** The same calls on the fast server and on Express's own. */
async function twoServers(): Promise<{ fast: string; own: string; stop: () => Promise<void> }> {
  const fast = await listening(application().use(refuse));
  const server = application().use(refuse).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const port = portOf(server);
  return {
    fast: fast.url,
    own: `http://127.0.0.1:${port}`,
    stop: () => new Promise((resolve) => void server.close(() => resolve())),
  };
}

describe('an Express application on the fast server', () => {
  test('an Express application on the fast server gets routes, parameters, queries and headers', async () => {
    const { url } = await listening(application());
    const answer = await call(`${url}/tows/TW-1?state=started&state=detained`, { headers: { 'x-sent': 'yes' } });

    expect(answer.status).toBe(200);
    expect(answer.headers['x-seen']).toBe('yes');
    expect(JSON.parse(answer.body)).toEqual({ ref: 'TW-1', query: { state: ['started', 'detained'] } });
  });

  test('an Express application on the fast server reads request bodies', async () => {
    const { url } = await listening(application());
    const headers = { 'content-type': 'application/json' };
    const answer = await call(`${url}/echo`, { method: 'POST', body: '{"a":[1]}', headers });

    expect([answer.status, answer.body]).toEqual([201, '{"a":[1]}']);
  });

  test('an Express application on the fast server answers 404 for an unknown route', async () => {
    const { url } = await listening(application());

    expect((await call(`${url}/nowhere`)).status).toBe(404);
    expect((await call(`${url}/tows/TW-1`, { method: 'POST' })).status).toBe(404);
  });

  test.each([
    ['throws', 'thrown'],
    ['rejects', 'rejected'],
  ])(
    'an Express application on the fast server passes a handler that %s to its error handler and continues',
    async (path, message) => {
      const { url } = await listening(application().use(refuse));
      const answer = await call(`${url}/${path}`);

      expect([answer.status, JSON.parse(answer.body)]).toEqual([500, { code: 'broke', message }]);
      expect((await call(`${url}/tows/1`)).status).toBe(200);
    },
  );

  test('an Express application on the fast server runs its routers and sub-applications and then its own routes', async () => {
    const { url } = await listening(application());
    const read = async (path: string): Promise<unknown> => JSON.parse((await call(url + path)).body);

    expect(await read('/router/one')).toEqual({ part: 'one', base: '/router' });
    expect(await read('/inner/where')).toEqual({ base: '/inner', path: '/where', isInner: true });
    expect((await call(`${url}/inner/nowhere`)).status).toBe(404);
    expect(await read('/inner-gone')).toEqual({ isOuter: true });
  });

  test('an Express application on the fast server sends the headers that a plain Express server sends', async () => {
    const { fast, own, stop } = await twoServers();
    const paths = [
      '/tows/1?a=b',
      '/nowhere',
      '/throws',
      '/rejects',
      '/moved',
      '/router/x',
      '/inner/where',
      '/inner/no',
    ];
    const answers = async (base: string) => {
      const all = await Promise.all(paths.map((path) => call(base + path)));
      return all.map(({ status, body, headers }) => ({ status, body, headers: { ...headers, date: '' } }));
    };

    expect(await answers(fast)).toEqual(await answers(own));
    await stop();
  });

  test('an Express application on the fast server keeps concurrent requests apart', async () => {
    const { url } = await listening(application());
    const refs = Array.from({ length: 200 }, (_, index) => `TW-${index}`);
    const answers = await Promise.all(refs.map((ref) => call(`${url}/tows/${ref}`)));

    expect(answers.map(({ body }): unknown => JSON.parse(body))).toEqual(refs.map((ref) => ({ ref, query: {} })));
  });

  test('an Express application on the fast server gets requests that already have the Express prototype', async () => {
    const { url } = await listening(application());
    let changes = 0;
    const spy = jest.spyOn(Object, 'setPrototypeOf').mockImplementation((target: object, prototype: object | null) => {
      const isHttp = target instanceof IncomingMessage || target instanceof ServerResponse;
      if (isHttp && Object.getPrototypeOf(target) !== prototype) changes += 1;
      Reflect.setPrototypeOf(target, prototype);
      return target;
    });
    const answers = [await call(`${url}/tows/TW-1`), await call(`${url}/router/one`), await call(`${url}/nowhere`)];
    const calls = spy.mock.calls.length;
    spy.mockRestore();

    expect(answers.map(({ status }) => status)).toEqual([200, 200, 404]);
    expect(calls).toBeGreaterThan(0);
    expect(changes).toBe(0);
  });

  test('an Express application on the fast server may serve two listeners', async () => {
    const app = application();
    const [one, other] = [await listening(app), await listening(app)];

    for (const { url } of [one, other, one]) expect((await call(`${url}/tows/TW-1`)).status).toBe(200);
  });
});
