import { once } from 'node:events';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '../../src/embedded-redis/launch';

/** Returns whether a local port accepts connections. */
export function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

/** Listens on a free local port in place of a Redis. The caller closes the server. */
export async function serveTcp(onConnection: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const port = await freePort();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  await once(server.listen(port, '127.0.0.1'), 'listening');
  return { port, server };
}
