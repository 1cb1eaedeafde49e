import { Agent, Server } from 'node:http';
import express from 'express';
import { listen, type Health } from '../../src/platform/http';
import { call, gate, listening, ready, stopListeners } from './listeners';

afterEach(stopListeners);

const failing = () => Promise.reject(new Error('marker: redis://secret@host'));

describe('a listener', () => {
  test('a listener on port 0 gets a free port and returns it', async () => {
    const [one, other] = [await listening(null), await listening(null)];

    expect(one.port).toBeGreaterThan(0);
    expect(one.port).not.toBe(other.port);
    expect(one.url).toBe(`http://127.0.0.1:${one.port}`);
    expect((await call(`${one.url}/healthz`)).status).toBe(200);
  });

  test('a listener on a port in use does not start', async () => {
    const { port } = await listening(null);

    await expect(listen(null, ready, { host: '127.0.0.1', port })).rejects.toThrow('EADDRINUSE');
  });

  test('/healthz answers 200 when the process is not ready', async () => {
    const { url } = await listening(null, { ready: failing });
    const answer = await call(`${url}/healthz`);

    expect([answer.status, JSON.parse(answer.body)]).toEqual([200, { status: 'alive' }]);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'cache-control': 'no-store' });
  });

  test.each([
    [true, 200, { status: 'ready', queue: 'ok' }],
    [false, 503, { status: 'not_ready', queue: 'ok' }],
  ])('/readyz of a listener with readiness %p answers %i with the details', async (isReady, status, body) => {
    const { url } = await listening(null, { ready: async () => ({ ready: isReady, details: { queue: 'ok' } }) });
    const answer = await call(`${url}/readyz?verbose=1`);

    expect([answer.status, JSON.parse(answer.body)]).toEqual([status, body]);
  });

  test('/readyz answers not ready without the reason when the check fails', async () => {
    const { url } = await listening(null, { ready: failing });
    const answer = await call(`${url}/readyz`);

    expect([answer.status, JSON.parse(answer.body)]).toEqual([503, { status: 'not_ready' }]);
  });

  test('a listener serves its metrics at /metrics', async () => {
    const metrics: Health['metrics'] = async () => ({ contentType: 'text/plain; version=0.0.4', text: 'up 1\n' });
    const { url } = await listening(null, { ...ready, metrics });
    const answer = await call(`${url}/metrics`);

    expect([answer.status, answer.body]).toEqual([200, 'up 1\n']);
    expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4');
  });

  test('/metrics answers 500 when metrics cannot be read, and the listener continues', async () => {
    const { url } = await listening(null, { ...ready, metrics: failing });
    const answer = await call(`${url}/metrics`);

    expect(answer.status).toBe(500);
    expect(answer.body).not.toContain('marker');
    expect((await call(`${url}/healthz`)).status).toBe(200);
  });

  test('a listener without metrics passes /metrics to the application', async () => {
    const app = express().get('/metrics', (_request, response) => void response.send('mine'));

    expect((await call(`${(await listening(app)).url}/metrics`)).body).toBe('mine');
    expect((await call(`${(await listening(null)).url}/metrics`)).status).toBe(404);
  });

  test('a listener answers health requests before the application', async () => {
    const app = express().use((_request, response) => void response.status(418).end());
    const { url } = await listening(app);

    expect((await call(`${url}/healthz`)).status).toBe(200);
    expect((await call(`${url}/readyz`)).status).toBe(200);
    expect((await call(`${url}/healthz/more`)).status).toBe(418);
  });

  test('a listener without an application answers 404 in the common error format', async () => {
    const answer = await call(`${(await listening(null)).url}/nowhere`);

    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.body)).toEqual({ code: 'not_found', message: 'No such address.', details: [] });
  });
});

test('a listener that cannot accept a connection reports it and serves the next one', async () => {
  const listened = jest.spyOn(Server.prototype, 'listen');
  const failures: unknown[] = [];
  const address = { host: '127.0.0.1', port: 0 };
  const listener = await listen(null, ready, address, {}, { acceptFailed: (error) => failures.push(error) });
  const server: unknown = listened.mock.contexts[0];
  listened.mockRestore();
  try {
    if (!(server instanceof Server)) throw new Error('the listener has no server');
    const error = new Error('accept ENFILE');
    server.emit('error', error);
    server.emit('error', error);

    expect(failures).toEqual([error, error]);
    expect((await call(`${listener.url}/healthz`)).status).toBe(200);
  } finally {
    await listener.stop(0);
  }
});

/** An application whose one request waits until the gate opens. */
async function busyListener() {
  const [seen, held] = [gate(), gate()];
  const app = express().get('/slow', async (_request, response) => {
    seen.open();
    await held.opened;
    response.send('done');
  });
  return { ...(await listening(app)), seen: seen.opened, finish: held.open };
}

test('a listener that announces its end is not ready, serves requests and closes their connections', async () => {
  const listener = await listening(express().get('/work', (_request, response) => void response.send('done')));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const before = await call(`${listener.url}/work`, { agent });

  listener.announceEnd();

  const after = await call(`${listener.url}/work`, { agent });
  expect([before, after].map(({ body, headers }) => [body, headers.connection])).toEqual([
    ['done', 'keep-alive'],
    ['done', 'close'],
  ]);
  expect(await call(`${listener.url}/readyz`)).toMatchObject({ status: 503, body: '{"status":"stopping"}' });
  expect((await call(`${listener.url}/healthz`)).status).toBe(200);
});

describe('a stopping listener', () => {
  // Far longer than a test may take, so that a test that waits for it fails.
  const FOREVER_MS = 600_000;

  test('an idle listener stops', async () => {
    const listener = await listening(null);
    await listener.stop(FOREVER_MS);

    await expect(call(`${listener.url}/healthz`)).rejects.toThrow('ECONNREFUSED');
  });

  test('a stopping listener closes idle keep-alive connections', async () => {
    const agent = new Agent({ keepAlive: true });
    const listener = await listening(null);
    expect((await call(`${listener.url}/healthz`, { agent })).status).toBe(200);

    await expect(listener.stop(FOREVER_MS)).resolves.toBeUndefined();
    agent.destroy();
  });

  test('a stopping listener finishes a running request and accepts no new one', async () => {
    const listener = await busyListener();
    const running = call(`${listener.url}/slow`);
    await listener.seen;
    let hasStopped = false;
    const stopped = listener.stop(FOREVER_MS).then(() => (hasStopped = true));

    await expect(call(`${listener.url}/slow`)).rejects.toThrow('ECONNREFUSED');
    expect(hasStopped).toBe(false);
    listener.finish();
    expect(await running).toMatchObject({ status: 200, body: 'done' });
    expect(await stopped).toBe(true);
  });

  test('a stopping listener does not wait for the next request of a keep-alive connection', async () => {
    const agent = new Agent({ keepAlive: true });
    const listener = await busyListener();
    const running = call(`${listener.url}/slow`, { agent });
    await listener.seen;
    const stopped = listener.stop(FOREVER_MS);
    listener.finish();

    expect((await running).status).toBe(200);
    await expect(stopped).resolves.toBeUndefined();
    agent.destroy();
  }, 30_000);

  test('a stopping listener cuts a request that runs longer than the grace period', async () => {
    const listener = await busyListener();
    const running = call(`${listener.url}/slow`);
    const outcome = running.then(
      () => 'answered',
      (error: unknown) => String(error),
    );
    await listener.seen;
    await listener.stop(20);

    expect(await outcome).toBe('Error: socket hang up');
  });

  test('stopping a listener twice has the effect of stopping it once', async () => {
    const listener = await listening(null);
    await Promise.all([listener.stop(FOREVER_MS), listener.stop(FOREVER_MS)]);

    await expect(listener.stop(FOREVER_MS)).resolves.toBeUndefined();
  });
});
