import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pause } from '../../src/platform/timers';
import { portOf } from './server-port';

const stops: (() => void)[] = [];

afterEach(() => {
  for (const stop of stops.splice(0)) stop();
});

/**
 * Starts a proxy that passes on the bytes to `url` no faster than this, and the answers at once. Returns the address to
 * use in place of `url`. The proxy ends with the test.
 */
export async function startSlowLine(url: string, bytesPerSecond: number): Promise<string> {
  const { port, hostname } = new URL(url);
  const sockets = new Set<Socket>();
  const line = createServer((client) => {
    const service = connect(Number(port), hostname);
    sockets.add(client).add(service);
    client.on('error', () => service.destroy()).on('close', () => service.destroy());
    // A normal end is passed on by the pipe, behind the answer.
    service.on('error', () => client.destroy());
    service.pipe(client);
    void passOnSlowly(client, service, bytesPerSecond);
  });
  line.listen(0, '127.0.0.1');
  await once(line, 'listening');
  stops.push(() => {
    line.close();
    for (const socket of sockets) socket.destroy();
  });
  const lineUrl = new URL(url);
  lineUrl.port = String(portOf(line));
  return lineUrl.href;
}

async function passOnSlowly(client: Socket, service: Socket, bytesPerSecond: number): Promise<void> {
  const chunks: AsyncIterable<Buffer> = client;
  try {
    for await (const chunk of chunks) {
      service.write(chunk);
      await pause((chunk.length / bytesPerSecond) * 1000);
    }
    service.end();
  } catch {
    service.destroy();
  }
}
