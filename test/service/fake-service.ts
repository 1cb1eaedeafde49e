import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { createServer as createRawServer } from 'node:net';

/** A request as it arrived. */
export interface Recorded {
  readonly method: string;
  readonly url: string;
  /** Names as they were spelled on the wire. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** Which connection it came on, counted from 1. */
  readonly connection: number;
}

export interface FakeReply {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** In place of `body`. */
  readonly bytes?: Buffer;
}

/** A real HTTP server on a free port that records requests and answers with configured replies. */
export interface FakeService {
  readonly url: string;
  /** Without the token calls. */
  readonly calls: Recorded[];
  readonly tokenCalls: Recorded[];
  /** How many connections were opened. */
  opened(): number;
  /** How calls are answered; `nth` counts from 1. */
  onCall(reply: (call: Recorded, nth: number) => FakeReply | Promise<FakeReply>): void;
  /** How token calls are answered; at first `token-1`, `token-2`, … */
  onTokenCall(reply: (call: Recorded, nth: number) => FakeReply | Promise<FakeReply>): void;
  stop(): Promise<void>;
}

/** JSON in the envelope (docs/service-api.md#envelope). */
export function enveloped(data: unknown, status = 200): FakeReply {
  return json({ code: status, message: 'Success', data }, status);
}

export function json(body: unknown, status = 200): FakeReply {
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The answer to every report on a tow (docs/service-api.md#tow-status-updates). */
export const TOW_ANSWER = enveloped({ towing_reference_id: 'TW-20250101-ABC123', metadata: { id: 'x1' } });

/** A readable JWT that ends then. */
export function jwt(expiresAtMs: number, mark = ''): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'HS256' })}.${part({ exp: expiresAtMs / 1000, mark })}.signature`;
}

export async function startFakeService(): Promise<FakeService> {
  const calls: Recorded[] = [];
  const tokenCalls: Recorded[] = [];
  const connections = new Map<Socket, number>();
  let onCall: (call: Recorded, nth: number) => FakeReply | Promise<FakeReply> = () => TOW_ANSWER;
  let onTokenCall: typeof onCall = (_, nth) => enveloped({ token: `token-${nth}` });

  const server = createServer((request, response) => {
    void (async () => {
      const body = await readBody(request);
      const isToken = (request.url ?? '').includes('/auth/public/token');
      const kept = isToken ? tokenCalls : calls;
      const recorded = {
        method: request.method ?? '',
        url: request.url ?? '',
        headers: spelled(request.rawHeaders),
        body,
        connection: connections.get(request.socket) ?? 0,
      };
      const nth = kept.push(recorded);
      const reply = await (isToken ? onTokenCall : onCall)(recorded, nth);
      const bytes = reply.bytes ?? Buffer.from(reply.body ?? '');
      response.writeHead(reply.status ?? 200, {
        'content-length': bytes.length,
        ...reply.headers,
      });
      response.end(bytes);
    })();
  });
  // By default Node closes an idle connection after 5 s, which a busy machine may be between two calls.
  server.keepAliveTimeout = 60_000;
  server.on('connection', (socket) => connections.set(socket, connections.size + 1));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    calls,
    tokenCalls,
    opened: () => connections.size,
    onCall: (reply) => (onCall = reply),
    onTokenCall: (reply) => (onTokenCall = reply),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A server below HTTP, for everything a healthy one would not do. */
export interface RawServer {
  readonly port: number;
  readonly url: string;
  /** Everything received so far, per connection. */
  readonly received: string[];
  /** Resolves once a connection, counted from 1, has closed. */
  closed(connection: number): Promise<void>;
  stop(): Promise<void>;
}

/**
 * `onChunk` gets each chunk that arrives on a connection, the connection's number and the chunk's, both from 1; `onOpen`
 * gets each connection.
 */
export async function startRawServer(
  onChunk: (socket: Socket, at: { readonly connection: number; readonly chunk: number }) => void,
  onOpen: (socket: Socket) => void = () => {},
): Promise<RawServer> {
  const received: string[] = [];
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    const connection = received.push('');
    onOpen(socket);
    let chunks = 0;
    socket.on('error', () => {});
    socket.on('data', (chunk) => {
      received[connection - 1] += chunk.toString('latin1');
      chunks += 1;
      onChunk(socket, { connection, chunk: chunks });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server.address());
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    received,
    closed: (connection) =>
      new Promise((resolve) => {
        const socket = [...sockets][connection - 1];
        if (!socket || socket.destroyed) resolve();
        else socket.once('close', () => resolve());
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  await new Promise<void>((resolve) => {
    request.on('end', () => resolve());
    request.on('error', () => resolve());
  });
  return Buffer.concat(chunks);
}

function spelled(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) headers[rawHeaders[at] ?? ''] = rawHeaders[at + 1] ?? '';
  return headers;
}
