import type { Socket } from 'node:net';
import type { ServiceClientOptions } from '../../src/service';
import { runAttempt } from '../../src/service/attempt';
import { eventually } from '../support/eventually';
import { clientFor, clientWithToken, closeClients, REQUESTS } from './client-under-test';
import { startRawServer, TOW_ANSWER, type RawServer } from './fake-service';

/** Generous for a busy machine: a call that ignored its deadline would never return. */
const AFTER_ANY_DEADLINE_MS = 15_000;

let server: RawServer | null = null;
afterEach(async () => {
  closeClients();
  await server?.stop();
  server = null;
});

const withToken = (url: string, options: Partial<ServiceClientOptions> = {}) =>
  clientWithToken(url, { timeoutMs: 20_000, ...options });

async function callTo(onChunk: (socket: Socket) => void, options: Partial<ServiceClientOptions> = {}) {
  await server?.stop();
  server = await startRawServer(onChunk);
  return (await withToken(server.url, options)).call('detained', REQUESTS.detained);
}

/** Calls until the request has reached the server in time: the deadline also runs while the connection opens. */
async function callInTimeTo(onChunk: (socket: Socket) => void, options: Partial<ServiceClientOptions>) {
  return eventually(async () => {
    const result = await callTo(onChunk, options);
    expect(server?.received.join('')).not.toBe('');
    return result;
  });
}

/** Calls until a part of the answer has arrived in time. */
async function callAnsweredInTimeBy(onChunk: (socket: Socket) => void, options: Partial<ServiceClientOptions>) {
  return eventually(async () => {
    const result = await callTo(onChunk, options);
    expect(result.rawBody).not.toBeNull();
    return result;
  });
}

/** A closed port. */
async function refusedPort(): Promise<number> {
  const gone = await startRawServer(() => {});
  await gone.stop();
  return gone.port;
}

describe('surely_not_sent', () => {
  it('a call to a closed port is surely_not_sent', async () => {
    const client = await withToken(`http://127.0.0.1:${await refusedPort()}`);
    const { exchange, rawBody } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'connection_refused' });
    expect(rawBody).toBeNull();
  });

  it('a call to a host name that does not exist is surely_not_sent', async () => {
    const client = await withToken('http://towhook-test.invalid', { timeoutMs: 20_000 });
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange.kind).toBe('surely_not_sent');
    // Without a DNS resolver the look-up does not fail but times out.
    expect('cause' in exchange && exchange.cause).toMatch(/^(dns_failed|connect_timeout)$/);
  });

  it('a call whose TLS handshake fails is surely_not_sent, and no request is sent', async () => {
    server = await startRawServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    const client = await withToken(server.url.replace('http:', 'https:'));
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange.kind).toBe('surely_not_sent');
    expect('cause' in exchange && exchange.cause).toMatch(/^tls_/);
    expect(server.received).toHaveLength(1);
    expect(server.received.join('')).not.toContain('known');
  });

  it('a call whose TLS handshake is cut off is surely_not_sent', async () => {
    server = await startRawServer((socket) => socket.resetAndDestroy());
    const client = await withToken(server.url.replace('http:', 'https:'));
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'tls_econnreset' });
  });

  it('a call whose TLS handshake takes too long is surely_not_sent', async () => {
    server = await startRawServer(() => {});
    const client = await withToken(server.url.replace('http:', 'https:'), { timeoutMs: 200 });
    const { exchange } = await client.call('invoice', REQUESTS.invoice);
    expect(exchange).toEqual({ kind: 'surely_not_sent', cause: 'connect_timeout' });
  });
});

it('a connection attempt times out before the deadline of the whole call', async () => {
  server = await startRawServer(() => {});
  const attempt = runAttempt({
    secure: true,
    options: { agent: false, host: '127.0.0.1', port: server.port, method: 'GET', path: '/' },
    body: null,
    bodyBytes: 0,
    timeoutMs: 600_000,
    silenceMs: null,
    connectTimeoutMs: 100,
    answerBytesMax: 1000,
    permission: () => Promise.resolve({ granted: true }),
  });
  await expect(attempt).rejects.toMatchObject({ phase: 'surely_not_sent', reason: 'connect_timeout' });
});

describe('unanswered', () => {
  it('a call whose connection is reset after the request arrived is unanswered', async () => {
    const { exchange, rawBody } = await callTo((socket) => socket.resetAndDestroy());
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'connection_reset' });
    expect(rawBody).toBeNull();
    expect(server?.received).toHaveLength(1);
  });

  it('a call whose connection is closed without a response is unanswered', async () => {
    const { exchange } = await callTo((socket) => socket.end());
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'connection_reset' });
  });

  it('a call without a response before its deadline is unanswered', async () => {
    const { exchange, durationMs } = await callInTimeTo(() => {}, { timeoutMs: 150 });
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'timeout' });
    expect(durationMs).toBeGreaterThanOrEqual(140);
    expect(durationMs).toBeLessThan(AFTER_ANY_DEADLINE_MS);
  });

  it('a call whose status line never ends is unanswered', async () => {
    const { exchange } = await callInTimeTo((socket) => socket.write('HTTP/1.1 200 O'), { timeoutMs: 150 });
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'timeout' });
  });

  it('a call whose response is not HTTP is unanswered', async () => {
    const { exchange } = await callTo((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    expect(exchange).toEqual({ kind: 'unanswered', cause: 'not_http' });
  });

  it('a call that is in flight when the client is closed is unanswered', async () => {
    server = await startRawServer(() => client.close());
    const client = await withToken(server.url);
    expect((await client.call('detained', REQUESTS.detained)).exchange).toMatchObject({ kind: 'unanswered' });
  });
});

describe('a response whose head breaks HTTP', () => {
  const body = TOW_ANSWER.body ?? '';
  const length = `content-length: ${body.length}`;
  const head = (...lines: string[]) => ['HTTP/1.1 200 OK', ...lines].join('\r\n');
  const whole = (...lines: string[]) => `${head(...lines)}\r\n\r\n${body}`;
  const chunked = `${head(length, 'transfer-encoding: chunked')}\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const LENIENT: [string, string, string][] = [
    ['a length beside chunks', chunked, 'unreadable_invalid_transfer_encoding'],
    ['a control character', whole('x-a: a\u0001b', length), 'unreadable_invalid_header_token'],
    ['a folded line', whole('x-a: a', ' b', length), 'unreadable_invalid_header_token'],
    ['line feeds alone', whole(length).replaceAll('\r', ''), 'unreadable_cr_expected'],
  ];

  it.each<[string, string, string]>([
    ...LENIENT,
    ['two lengths', whole(length, length), 'unreadable_unexpected_content_length'],
    ['80 kB', whole(`x-a: ${'a'.repeat(80_000)}`, length), 'unreadable_header_overflow'],
  ])('a call that was answered with %s is unanswered, and its cause is named', async (_, answer, cause) => {
    const { exchange } = await callTo((socket) => socket.end(answer));
    expect(exchange).toEqual({ kind: 'unanswered', cause });
    expect(server?.received).toHaveLength(1);
    const invoice = await (await withToken(server?.url ?? '')).call('invoice', REQUESTS.invoice);
    expect(invoice.exchange).toEqual({ kind: 'unanswered', cause });
    const withoutToken = await clientFor(server?.url ?? '').call('detained', REQUESTS.detained);
    expect(withoutToken.exchange).toMatchObject({ kind: 'surely_not_sent', cause: `token_${cause}` });
  });

  it.each(LENIENT)('lenient reading takes %s, on one connection per call', async (_, answer) => {
    const { exchange } = await callTo((socket) => socket.end(answer), { readsLeniently: true });
    expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
    expect(server?.received[0]).toMatch(/\r\nconnection: close\r\n/i);
  });

  it('a head of 60 kB is read', async () => {
    const { exchange } = await callTo((socket) => socket.end(whole(`x-a: ${'a'.repeat(60_000)}`, length)));
    expect(exchange).toEqual({ kind: 'accepted', httpStatus: 200 });
  });
});

describe('a response that breaks off after its status', () => {
  const half = (status: string) =>
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"code":`;

  it('a response that breaks off after a 2xx is not the service', async () => {
    const { exchange, rawBody, data } = await callTo((socket) => socket.end(half('200 OK')));
    expect(exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause: 'broken_off' });
    expect(rawBody).toBe('{"code":');
    expect(data).toBeNull();
  });

  it('a response with a 2xx and an incomplete body at the deadline is not the service', async () => {
    const { exchange, rawBody } = await callAnsweredInTimeBy((socket) => socket.write(half('200 OK')), {
      timeoutMs: 600,
    });
    expect(exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause: 'broken_off' });
    expect(rawBody).toBe('{"code":');
  });

  it('a response with a chunk that breaks HTTP keeps its status', async () => {
    const bad = 'HTTP/1.1 422 No\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n';
    const { exchange } = await callTo((socket) => socket.end(bad));
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: 422, isJson: true });
  });

  it('a response that breaks off after valid JSON is not the service', async () => {
    const whole = `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${(TOW_ANSWER.body ?? '').length.toString(16)}\r\n${TOW_ANSWER.body}`;
    const { exchange } = await callTo((socket) => socket.end(whole));
    expect(exchange.kind).toBe('not_the_service');
  });

  it('a response that breaks off after a 4xx is a refusal with its status, known to be JSON', async () => {
    const { exchange } = await callTo((socket) => socket.end(half('404 Not Found')));
    expect(exchange).toEqual({ kind: 'refused', httpStatus: 404, message: null, isJson: true, notBeforeMs: null });
  });

  it('a response is cut off at 256 KiB, and its connection is closed', async () => {
    let drip: NodeJS.Timeout | undefined;
    const { exchange, rawBody } = await callTo(
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
        drip = setInterval(() => socket.write(`10000\r\n${'x'.repeat(65_536)}\r\n`), 1);
      },
      { timeoutMs: 10_000 },
    );
    expect(exchange).toEqual({ kind: 'not_the_service', httpStatus: 200, cause: 'too_long' });
    expect(rawBody).toHaveLength(65_536);
    await server?.closed(1);
    clearInterval(drip);
  });

  it('a response that arrives byte by byte does not outlast the deadline', async () => {
    let drip: NodeJS.Timeout | undefined;
    const { exchange, durationMs } = await callAnsweredInTimeBy(
      (socket) => {
        clearInterval(drip);
        socket.write('HTTP/1.1 500 Oops\r\nTransfer-Encoding: chunked\r\n\r\n');
        drip = setInterval(() => socket.write('1\r\nx\r\n'), 20);
      },
      { timeoutMs: 600 },
    );
    clearInterval(drip);
    expect(exchange).toMatchObject({ kind: 'refused', httpStatus: 500 });
    expect(durationMs).toBeLessThan(AFTER_ANY_DEADLINE_MS);
  });
});
