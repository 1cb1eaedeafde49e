import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { pause } from '../../src/platform/timers';
import { portOf } from './server-port';

/** A load balancer for TCP, as in front of two processes of one role. */
export interface Balancer {
  readonly port: number;
  /** Sends new connections to this address while its `/readyz` answers 200. */
  add(url: string): void;
  stop(): void;
}

const CHECK_EVERY_MS = 100;

interface Backend {
  readonly url: URL;
  isReady: boolean;
}

/** Starts a balancer without an address. A connection stays with the address that it began with. */
export async function startBalancer(): Promise<Balancer> {
  const backends: Backend[] = [];
  const open = new Set<Socket>();
  const ending = new AbortController();
  let turn = 0;
  const server = createServer((client) => {
    const ready = backends.filter(({ isReady }) => isReady);
    const backend = ready[(turn += 1) % Math.max(1, ready.length)];
    if (!backend) {
      client.destroy();
      return;
    }
    const onward = connect(Number(backend.url.port), backend.url.hostname);
    for (const [from, to] of [
      [client, onward],
      [onward, client],
    ] as const) {
      open.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy()).on('close', () => open.delete(from));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const check = async (backend: Backend) => {
    while (!ending.signal.aborted) {
      backend.isReady = await fetch(new URL('/readyz', backend.url), { headers: { connection: 'close' } }).then(
        ({ ok }) => ok,
        () => false,
      );
      await pause(CHECK_EVERY_MS, ending.signal);
    }
  };
  return {
    port: portOf(server),
    add(url) {
      const backend = { url: new URL(url), isReady: false };
      backends.push(backend);
      void check(backend);
    },
    stop() {
      ending.abort();
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
