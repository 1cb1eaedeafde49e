import type { Express, Response } from 'express';
import type { StoreEvent } from '../contracts/records';
import { identify } from './serve';
import type { Authenticator } from './authenticate';

/** Server-sent events: everything that changes, to everybody who watches. */
export interface EventStream {
  /** Hands an event to all watchers. */
  publish(event: StoreEvent): void;
  /** Ends all streams, so that the listener can close. */
  close(): void;
}

const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 2000;
/** A watcher that does not read is let go; it comes back and reads the present state. */
const UNREAD_BYTES_MAX = 1_048_576;

/** Serves `GET /api/events` (role viewer). */
export function serveEvents(app: Express, authenticator: Authenticator): EventStream {
  const watchers = new Set<Response>();
  app.get('/api/events', async (request, response) => {
    if (!(await identify(request, response, authenticator))) return;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    watchers.add(response);
    response.on('close', () => watchers.delete(response));
  });
  const send = (text: string) => {
    for (const watcher of watchers) {
      if (watcher.writableLength > UNREAD_BYTES_MAX) watcher.destroy();
      else watcher.write(text);
    }
  };
  const heartbeat = setInterval(() => send(': still here\n\n'), HEARTBEAT_MS);
  return {
    publish(event) {
      const at = new Date(event.at_ms).toISOString();
      const ref = event.towing_reference_id ? { towing_reference_id: event.towing_reference_id } : {};
      send(`event: ${event.type}\ndata: ${JSON.stringify({ at, type: event.type, ...ref })}\n\n`);
    },
    close() {
      clearInterval(heartbeat);
      for (const watcher of watchers) watcher.end();
    },
  };
}
