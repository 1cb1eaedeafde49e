import type { Express, Response } from 'express';
import type { StoreEvent } from '../contracts/records';
import type { Authenticator } from './authenticate';
import type { Clock } from '../platform/clock';
import { identify } from './identify';
import { createRecentEvents } from './recent-events';

/** Server-sent events: everything that changes, to everybody who watches. */
export interface EventStream {
  /** Hands an event to all watchers. */
  publish(event: StoreEvent): void;
  /** Ends all streams, so that the listener can close. */
  close(): void;
}

/** How often a watcher hears that the stream lives; its key or session is looked at again each time, since it may have ended. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 2000;
/** A watcher that does not read is let go; it comes back and reads the present state. */
const UNREAD_BYTES_MAX = 1_048_576;

/** Serves `GET /api/events` (role viewer); `since` asks for what was said from that moment on, too (recent-events.ts). */
export function serveEvents(
  app: Express,
  authenticator: Authenticator,
  { clock, heartbeatMs = HEARTBEAT_MS }: { clock: Clock; heartbeatMs?: number },
): EventStream {
  const watchers = new Map<Response, () => Promise<boolean>>();
  const recent = createRecentEvents(clock);
  app.get('/api/events', async (request, response) => {
    const caller = await identify(request, response, authenticator);
    if (!caller) return;
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    // A moment that cannot be read asks for nothing.
    const { since } = request.query;
    for (const text of recent.since(typeof since === 'string' ? Date.parse(since) : Number.NaN)) response.write(text);
    watchers.set(response, caller.isStillIn);
    response.on('close', () => watchers.delete(response));
  });
  const send = (text: string) => {
    for (const watcher of watchers.keys()) {
      if (watcher.writableLength > UNREAD_BYTES_MAX) watcher.destroy();
      else watcher.write(text);
    }
  };
  const letGo = () => {
    for (const [watcher, isAllowed] of watchers) {
      // While nobody can say, whoever was let in stays.
      isAllowed().then(
        (allowed) => void (allowed || watcher.end()),
        () => {},
      );
    }
  };
  const heartbeat = setInterval(() => {
    send(': still here\n\n');
    letGo();
  }, heartbeatMs);
  return {
    publish(event) {
      const at = new Date(event.at_ms).toISOString();
      const { towing_reference_id: ref, violation_id: violationId } = event;
      const about = {
        ...(ref ? { towing_reference_id: ref } : {}),
        ...(violationId ? { violation_id: violationId } : {}),
      };
      const text = `event: ${event.type}\ndata: ${JSON.stringify({ at, type: event.type, ...about })}\n\n`;
      recent.note(JSON.stringify([event.type, about]), text);
      send(text);
    },
    close() {
      clearInterval(heartbeat);
      for (const watcher of watchers.keys()) watcher.end();
    },
  };
}
