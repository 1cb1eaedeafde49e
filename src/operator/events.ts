import type { Express, Response } from 'express';
import type { StoreEvent } from '../contracts/records';
import type { Authenticator } from './authenticate';
import type { Clock } from '../platform/clock';
import { identify, type Caller } from './identify';
import { createRecentEvents } from './recent-events';
import { sendRefusal } from './reply';
import { problem } from './said';

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
const LIMITS = { streamsOfKeyMax: 20, streamsMax: 500, replayMax: 1000 };
/** A stream may have ended by then. */
const RETRY_AFTER_MS = 30_000;

/**
 * Serves `GET /api/events` (role viewer); `since` asks for what was said from that moment on, too (recent-events.ts). More
 * of it than may be repeated is one event, `events.missed`: the client reads everything again.
 */
export function serveEvents(
  app: Express,
  authenticator: Authenticator,
  { clock, heartbeatMs = HEARTBEAT_MS, ...limits }: { clock: Clock; heartbeatMs?: number } & Partial<typeof LIMITS>,
): EventStream {
  const { streamsOfKeyMax, streamsMax, replayMax } = { ...LIMITS, ...limits };
  const watchers = new Map<Response, Caller>();
  const recent = createRecentEvents(clock, replayMax);
  app.get('/api/events', async (request, response) => {
    const caller = await identify(request, response, authenticator);
    // A client that is gone by now would keep its place: its response closes no more.
    if (!caller || response.destroyed) return;
    const ofKey = [...watchers.values()].filter(({ actor }) => actor.id === caller.actor.id).length;
    if (ofKey >= streamsOfKeyMax) return sendRefusal(response, tooManyStreams(streamsOfKeyMax).refusal);
    if (watchers.size >= streamsMax) return sendRefusal(response, FULL.refusal);
    response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      connection: 'keep-alive',
      'x-accel-buffering': 'no',
    });
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    // A moment that cannot be read asks for nothing.
    const { since } = request.query;
    const missed = recent.since(typeof since === 'string' ? Date.parse(since) : Number.NaN);
    for (const text of missed ?? [eventText('events.missed', clock.nowMs())]) response.write(text);
    watchers.set(response, caller);
    response.on('close', () => watchers.delete(response));
  });
  const send = (text: string) => {
    for (const watcher of watchers.keys()) {
      if (watcher.writableLength > UNREAD_BYTES_MAX) watcher.destroy();
      else watcher.write(text);
    }
  };
  const letGo = () => {
    for (const [watcher, { isStillIn }] of watchers) {
      // While nobody can say, whoever was let in stays.
      isStillIn().then(
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
      const { towing_reference_id: ref, violation_id: violationId } = event;
      const about = {
        ...(ref ? { towing_reference_id: ref } : {}),
        ...(violationId ? { violation_id: violationId } : {}),
      };
      const text = eventText(event.type, event.at_ms, about);
      recent.note(JSON.stringify([event.type, about]), text);
      send(text);
    },
    close() {
      clearInterval(heartbeat);
      for (const watcher of watchers.keys()) watcher.end();
    },
  };
}

function eventText(type: string, atMs: number, about: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ at: new Date(atMs).toISOString(), type, ...about })}\n\n`;
}

function tooManyStreams(max: number) {
  return problem({
    httpStatus: 429,
    error: { code: 'too_many_streams', message: `This API key has ${max} open event streams; close one first.` },
    retryAfterMs: RETRY_AFTER_MS,
  });
}

const FULL = problem({
  httpStatus: 503,
  error: { code: 'streams_full', message: 'This console has as many open event streams as it takes.' },
  retryAfterMs: RETRY_AFTER_MS,
});
