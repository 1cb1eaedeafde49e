import { randomInt } from 'node:crypto';
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

/**
 * A free local port below those that a system gives to programs that ask for any: no program takes it by chance while
 * the server of a test is stopped.
 */
export async function lastingPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 30_000);
    const server = createServer();
    try {
      await once(server.listen(port, '127.0.0.1'), 'listening');
    } catch {
      continue;
    }
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}
