import { createConnection } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Log } from '../platform/log';
import { errorMessage } from '../platform/errors';

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 10_000;

export interface WatchOptions {
  readonly port: number;
  /** Restarts the server on the same port. */
  readonly revive: () => Promise<void>;
  readonly log: Log;
}

/**
 * Watches a server through an idle connection, which closes when the server ends, and then calls `revive` until it
 * succeeds. Does not keep the process running. The returned function ends the watch and waits for a running `revive`.
 */
export function watchServer({ port, revive, log }: WatchOptions): () => Promise<void> {
  const end = new AbortController();
  const watching = (async () => {
    while (!end.signal.aborted) {
      await untilLost(port, end.signal);
      await reviveUntilAlive(revive, log, end.signal);
    }
  })();
  return () => {
    end.abort();
    return watching;
  };
}

function untilLost(port: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const socket = createConnection({ host: '127.0.0.1', port });
    const close = () => socket.destroy();
    socket.unref();
    socket.resume();
    // An `error` event is always followed by `close`.
    socket.on('error', () => {});
    socket.on('close', () => {
      signal.removeEventListener('abort', close);
      resolve();
    });
    signal.addEventListener('abort', close);
  });
}

async function reviveUntilAlive(revive: () => Promise<void>, log: Log, signal: AbortSignal): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; !signal.aborted; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
    try {
      await revive();
      return;
    } catch (error) {
      log.error('embedded_redis.not_revived', { error: errorMessage(error) });
    }
    await pause(pauseMs, undefined, { ref: false, signal }).catch(() => {});
  }
}
