import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { portOf } from '../support/server-port';

/** Listens on a free local port in place of a Redis. The caller closes the server. */
export async function serveTcp(onConnection: (socket: Socket) => void): Promise<{ port: number; server: Server }> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    onConnection(socket);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return { port: portOf(server), server };
}
