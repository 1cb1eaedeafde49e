import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { createServer } from 'node:tls';
import { certificate } from '../service/connect-proxy';
import { portOf } from './server-port';

/** A listener that ends TLS in front of a server of this machine, and asks clients for a certificate. */
export interface TlsFront {
  readonly port: number;
  stop(): Promise<void>;
}

/** Starts it with the certificate of the private authority of the tests, which is for localhost and 127.0.0.1. */
export async function startTlsFront(serverPort: number): Promise<TlsFront> {
  const sockets = new Set<Socket>();
  const options = {
    key: readFileSync(certificate('server-key')),
    cert: readFileSync(certificate('server')),
    ca: readFileSync(certificate('ca')),
    requestCert: true,
    rejectUnauthorized: true,
  };
  const server = createServer(options, (client) => {
    const behind = connect(serverPort, '127.0.0.1');
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: portOf(server),
    async stop() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
