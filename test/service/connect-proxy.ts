import { createServer, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestListener } from 'node:http';
import { PROJECT } from '../support/project';

const FOLDER = join(PROJECT, 'test/support/certificates');

/** A file of test/support/certificates. */
export const certificate = (name: 'ca' | 'server' | 'server-key' | 'client' | 'client-key') =>
  join(FOLDER, `${name}.pem`);

/** A proxy that opens tunnels, and what it was asked for. */
export interface ConnectProxy {
  readonly url: string;
  readonly port: number;
  /** `host:port` of each tunnel that was requested. */
  readonly tunnels: string[];
  readonly authorizations: (string | undefined)[];
  stop(): Promise<void>;
}

/** `answer` may answer a request in place of the tunnel, by returning its first line; or never, by returning ''. */
export async function startConnectProxy(answer: (request: IncomingMessage) => string | null = () => null) {
  const tunnels: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((_request, response) => response.writeHead(501).end());
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', (request: IncomingMessage, client: Socket) => {
    tunnels.push(request.url ?? '');
    authorizations.push(request.headers['proxy-authorization']);
    client.on('error', () => {});
    const refusal = answer(request);
    if (refusal === '') return;
    if (refusal !== null) {
      client.end(`HTTP/1.1 ${refusal}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}`);
      return;
    }
    const [host = '', port = ''] = (request.url ?? '').split(/:(?=\d+$)/);
    const target = connect(Number(port), host, () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      target.pipe(client);
      client.pipe(target);
    });
    sockets.add(target);
    target.on('error', () => client.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server.address());
  const proxy: ConnectProxy = {
    url: `http://127.0.0.1:${port}`,
    port,
    tunnels,
    authorizations,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
  return proxy;
}

/** An HTTPS server on the loopback address with a certificate of the private authority. */
export async function startSecureServer(listener: RequestListener, options: ServerOptions = {}) {
  const server = createSecureServer(
    { cert: readFileSync(certificate('server')), key: readFileSync(certificate('server-key')), ...options },
    listener,
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = addressOf(server.address());
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function addressOf(address: AddressInfo | string | null): AddressInfo {
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address;
}
