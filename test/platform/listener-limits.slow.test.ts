import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import express from 'express';
import type { ClosedConnection } from '../../src/platform/connections';
import { listen, type ListenerLimits, type Listener } from '../../src/platform/http';
import { eventually } from '../support/eventually';
import { call, ready } from './listeners';

/** Short enough to be waited for; a request of these tests that is complete at once keeps them on any machine. */
const SHORT: Partial<ListenerLimits> = { headersMs: 1000, requestMs: 2000, checkEveryMs: 50 };

const opened: { listener: Listener; sockets: Socket[] }[] = [];
afterEach(async () => {
  for (const { listener, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.destroy();
    await listener.stop(0);
  }
});

/** A listener whose `/stream` writes once and stays open, and whose `/echo` reads its body to the end. */
async function listening(limits: Partial<ListenerLimits>, trusted: number | string = 0) {
  const app = express();
  app.get('/stream', (_request, response) => void response.write('begun'));
  app.set('trust proxy', trusted);
  app.get('/address', (request, response) => void response.send(request.ip));
  app.post('/not-read', (_request, response) => void response.status(404).end());
  app.post('/echo', express.text({ type: () => true }), (request, response) => void response.send(request.body));
  const closed: ClosedConnection[] = [];
  const crowded = (each: ClosedConnection) => void closed.push(each);
  const listener = await listen(app, ready, { host: '127.0.0.1', port: 0 }, limits, { crowded });
  const sockets: Socket[] = [];
  opened.push({ listener, sockets });
  /** Sends text, and keeps what comes back until the connection is closed. */
  const sending = async (text: string, localAddress = '127.0.0.1') => {
    const socket = connect({ port: listener.port, host: '127.0.0.1', localAddress }).on('error', () => {});
    sockets.push(socket);
    const state = { text: '', isClosed: false };
    socket.on('data', (chunk: Buffer) => (state.text += chunk.toString()));
    socket.on('close', () => (state.isClosed = true));
    await once(socket, 'connect');
    socket.write(text);
    return { socket, state };
  };
  return { url: listener.url, sending, closed };
}

test.each([
  ['a connection on which nothing is sent', ''],
  ['a request that stops in its headers', 'GET /stream HTTP/1.1\r\nhost: x\r\nx-slow: '],
  ['a request that stops in its body', 'POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf'],
])('a listener ends %s', async (_what, text) => {
  const { url, sending } = await listening(SHORT);
  const { state } = await sending(text);
  await eventually(() => expect(state.isClosed).toBe(true));
  expect(state.text).toMatch(/^(HTTP\/1\.1 408 |$)/);
  await eventually(async () => expect((await call(`${url}/healthz`)).status).toBe(200));
});

test('a listener keeps an answer open that lasts longer than a request may take', async () => {
  const { sending } = await listening(SHORT);
  const stream = await sending('GET /stream HTTP/1.1\r\nhost: x\r\n\r\n');
  await eventually(() => expect(stream.state.text).toContain('begun'));
  // Ended later than the stream's request would be.
  const slow = await sending('POST /echo HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf');
  await eventually(() => expect(slow.state.isClosed).toBe(true));
  expect(stream.state.isClosed).toBe(false);
});

test('a listener accepts connections up to its limit, and one more after one has ended', async () => {
  const { sending } = await listening({ connections: 3 });
  const ask = 'GET /stream HTTP/1.1\r\nhost: x\r\n\r\n';
  const streams = [];
  for (let index = 0; index < 3; index += 1) {
    const stream = await sending(ask);
    await eventually(() => expect(stream.state.text).toContain('begun'));
    streams.push(stream);
  }
  const beyond = await sending(ask);
  await eventually(() => expect(beyond.state).toEqual({ text: '', isClosed: true }));
  streams[0]?.socket.destroy();
  await eventually(async () => {
    const next = await sending(ask);
    await eventually(() => expect(next.state.text).toContain('begun'), 1000);
  });
  expect(streams[1]?.state.isClosed).toBe(false);
});

test('a listener closes the connection of a body in tiny pieces, and of none in larger ones', async () => {
  const { sending } = await listening({});
  const asked = async (pieces: number, piece: string) => {
    const { socket, state } = await sending('POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n');
    socket.write(`${`${piece.length.toString(16)}\r\n${piece}\r\n`.repeat(pieces)}0\r\n\r\n`);
    socket.write('GET /address HTTP/1.1\r\nhost: x\r\n\r\n');
    await eventually(() => expect(state.isClosed || state.text.endsWith('127.0.0.1')).toBe(true));
    return state.isClosed;
  };
  expect(await asked(1000, 'x')).toBe(false);
  expect(await asked(1500, 'x'.repeat(64))).toBe(false);
  expect(await asked(1500, 'x')).toBe(true);
});

test('a listener closes the connection of a chunked body that is not complete when its answer is sent', async () => {
  const { sending } = await listening({});
  const { state } = await sending('POST /not-read HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n1\r\nx\r\n');
  await eventually(() => expect(state.isClosed).toBe(true));
  expect(state.text).toContain('404');
});

test('a listener refuses a request whose last headers would be dropped, as a proxy may have added them', async () => {
  const { sending } = await listening({}, 1);
  const asked = async (dummies: number) => {
    const own = Array.from({ length: dummies }, (_, index) => `x-${index}: 1\r\n`).join('');
    const forged = 'x-forwarded-for: 192.0.2.1\r\n';
    const { state } = await sending(
      `GET /address HTTP/1.1\r\nhost: x\r\n${forged}${own}x-forwarded-for: 203.0.113.9\r\nconnection: close\r\n\r\n`,
    );
    await eventually(() => expect(state.isClosed).toBe(true));
    return state.text;
  };
  expect(await asked(10)).toMatch(/\r\n203\.0\.113\.9$/);
  for (const dummies of [97, 98, 200]) expect(await asked(dummies)).toMatch(/^HTTP\/1\.1 431 [^]*"too_many_headers"/);
});

const IDLE = 'GET /address HTTP/1.1\r\nhost: x\r\n\r\n';
const BUSY = 'GET /stream HTTP/1.1\r\nhost: x\r\n\r\n';
const [ONE, OTHER, PROXY] = ['127.0.0.1', '127.0.0.2', '127.0.0.3'];

/** Opens connections one after the other; each waits for what answers its request, or for its end. */
async function openOn({ sending }: Pick<Awaited<ReturnType<typeof listening>>, 'sending'>, asked: [string, string][]) {
  const opened = [];
  for (const [text, from] of asked) {
    const { socket, state } = await sending(text, from);
    await eventually(() => expect(state.text !== '' || state.isClosed).toBe(true));
    opened.push({ socket, state });
  }
  return opened;
}
const endedOf = (opened: Awaited<ReturnType<typeof openOn>>) => opened.map(({ state }) => state.isClosed);

test('a source over its share loses the connection that was idle for longest, and no other source loses one', async () => {
  const listener = await listening({ connectionsPerSource: 2 });
  const opened = await openOn(listener, [
    [IDLE, ONE],
    [IDLE, ONE],
    [IDLE, OTHER],
  ]);
  opened[0]?.socket.write(IDLE);
  await eventually(() => expect(opened[0]?.state.text.match(/HTTP/g)).toHaveLength(2));
  opened.push(...(await openOn(listener, [[IDLE, ONE]])));
  await eventually(() => expect(endedOf(opened)).toEqual([false, true, false, false]));
  expect(listener.closed).toEqual([{ reason: 'idle', source: ONE }]);
});

test('a source whose connections all have a request gets no further one', async () => {
  const listener = await listening({ connectionsPerSource: 2 });
  const opened = await openOn(listener, [
    [BUSY, ONE],
    [BUSY, ONE],
    [BUSY, ONE],
    [BUSY, OTHER],
  ]);
  expect(endedOf(opened)).toEqual([false, false, true, false]);
  expect(listener.closed).toEqual([{ reason: 'dropped', source: ONE }]);
});

test('a trusted proxy has no share, and a full listener closes no connection of it while another source has an idle one', async () => {
  const listener = await listening({ connections: 4, connectionsPerSource: 2 }, PROXY);
  const opened = await openOn(listener, [
    [IDLE, PROXY],
    [IDLE, PROXY],
    [IDLE, PROXY],
    [IDLE, ONE],
    [IDLE, OTHER],
  ]);
  await eventually(() => expect(endedOf(opened)).toEqual([false, false, false, true, false]));
  expect(listener.closed).toEqual([{ reason: 'idle', source: ONE }]);
});

test('a listener that is nearly full keeps idle connections for a shorter time', async () => {
  const listener = await listening({ connections: 4 });
  const opened = await openOn(listener, [
    [IDLE, ONE],
    [IDLE, ONE],
    [IDLE, ONE],
    [IDLE, OTHER],
  ]);
  expect(opened.map(({ state }) => /Keep-Alive: timeout=(\d+)/.exec(state.text)?.[1])).toEqual(['65', '65', '65', '5']);
});
