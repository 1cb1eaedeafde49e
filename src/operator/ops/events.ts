import type { Express, Response } from 'express';
import { eventsQuery } from '../../contracts/operator';
import type { StoreEvent } from '../../contracts/outbox/records';
import { failedRules } from '../../contracts/rules';
import { timestampMs, isoTimestamp } from '../../domain/timestamp';
import type { Clock } from '../../platform/clock';
import type { Authenticator } from '../authenticate';
import { identify, type Caller } from '../authenticate';
import { invalidFields, refusedResponse } from '../responses';
import { sendRefusal } from '../send-response';

/** Server-sent events about every change, sent to every subscriber. */
export interface EventStream {
  publish(event: StoreEvent): void;
  /** Tells all subscribers that events may have been lost, so that they read everything again. */
  missed(): void;
  /** Ends all streams, so that the listener can close. */
  close(): void;
}

/** Not in the route table, because its answer is an endless stream. */
export const EVENTS_ROUTE = { method: 'get', path: '/api/events' } as const;

/** Interval of the comment that keeps a connection open, and of the check that its key or session is still valid. */
const HEARTBEAT_MS = 15_000;
const RECONNECT_MS = 2000;
/** A subscriber with more unread bytes is disconnected. It reconnects and reads the current state. */
const UNREAD_BYTES_MAX = 1_048_576;
const STREAM_LIMITS = { streamsOfKeyMax: 20, streamsMax: 500, replayMax: 1000 };
const RETRY_AFTER_MS = 30_000;
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};

/**
 * Serves `GET /api/events` (role viewer). With `since`, the events from that time on are sent first. If they cannot all be
 * replayed, one `events.missed` is sent instead, and the client reads everything again.
 */
export function serveEvents(
  app: Express,
  authenticator: Authenticator,
  options: { clock: Clock; heartbeatMs?: number } & Partial<typeof STREAM_LIMITS>,
): EventStream {
  const { clock, heartbeatMs = HEARTBEAT_MS, ...limits } = options;
  const { streamsOfKeyMax, streamsMax, replayMax } = { ...STREAM_LIMITS, ...limits };
  const subscribers = new Map<Response, Caller>();
  /** Ended streams whose last bytes the client has not read yet. Nothing may be written to them. */
  const ended = new Set<Response>();
  const recent = new RecentEvents(clock, replayMax);
  app[EVENTS_ROUTE.method](EVENTS_ROUTE.path, async (request, response) => {
    const caller = await identify(request, response, authenticator);
    // A response that is already destroyed emits no 'close', so its subscriber would never be removed.
    if (!caller || response.destroyed) return;
    const query = eventsQuery.safeParse(request.query);
    if (!query.success) return sendRefusal(response, invalidFields(failedRules(query.error)).refusal);
    const ofKey = [...subscribers.values()].filter(({ actor }) => actor.id === caller.actor.id).length;
    if (ofKey >= streamsOfKeyMax) return sendRefusal(response, tooManyStreams(streamsOfKeyMax).refusal);
    if (subscribers.size >= streamsMax) return sendRefusal(response, STREAMS_FULL.refusal);
    response.writeHead(200, STREAM_HEADERS);
    // Express calls the handler of GET for HEAD, too.
    if (request.method === 'HEAD') return void response.end();
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    const sinceMs = query.data.since === undefined ? null : timestampMs(query.data.since);
    const replay = sinceMs === null ? [] : recent.since(sinceMs);
    for (const text of replay ?? [eventText('events.missed', clock.nowMs())]) response.write(text);
    subscribers.set(response, caller);
    response.on('close', () => {
      subscribers.delete(response);
      ended.delete(response);
    });
  });
  const send = (text: string) => {
    for (const subscriber of subscribers.keys()) {
      if (subscriber.writableLength > UNREAD_BYTES_MAX) subscriber.destroy();
      else subscriber.write(text);
    }
  };
  const end = (subscriber: Response) => {
    // Its client may have left meanwhile.
    if (!subscribers.delete(subscriber)) return;
    ended.add(subscriber);
    subscriber.end();
  };
  const endInvalid = () => {
    for (const [subscriber, { isStillValid }] of subscribers) {
      // While the store is unavailable, subscribers stay.
      isStillValid().then(
        (isValid) => void (isValid || end(subscriber)),
        () => {},
      );
    }
  };
  const heartbeat = setInterval(() => {
    for (const subscriber of ended) subscriber.destroy();
    send(': still here\n\n');
    endInvalid();
  }, heartbeatMs);
  return {
    publish(event) {
      const { towing_reference_id: ref, violation_id: violationId } = event;
      const about = {
        ...(ref ? { towing_reference_id: ref } : {}),
        ...(violationId ? { violation_id: violationId } : {}),
      };
      const text = eventText(event.type, event.at_ms, about);
      recent.add(JSON.stringify([event.type, about]), text);
      send(text);
    },
    missed() {
      recent.missed();
      send(eventText('events.missed', clock.nowMs()));
    },
    close() {
      clearInterval(heartbeat);
      for (const subscriber of subscribers.keys()) end(subscriber);
    },
  };
}

function eventText(type: string, atMs: number, about: object = {}): string {
  return `event: ${type}\ndata: ${JSON.stringify({ at: isoTimestamp(atMs), type, ...about })}\n\n`;
}

function tooManyStreams(max: number) {
  const message = `This API key has ${max} open event streams, the maximum. Close one first.`;
  return refusedResponse(429, { code: 'too_many_streams', message }, RETRY_AFTER_MS);
}

const STREAMS_FULL = refusedResponse(
  503,
  { code: 'streams_full', message: 'This console has the maximum number of open event streams. Try again later.' },
  RETRY_AFTER_MS,
);

const REPLAY_MS = 60_000;
/** `since` comes from a page of another console, whose clock may be ahead by this much. */
const CLOCK_SKEW_MS = 500;

/**
 * The events of the last 60 s, so that a client which has just read the state misses no change. Of several events about
 * one subject only the last is kept, because the client then reads the current state.
 */
class RecentEvents {
  /** By subject, in the order of the last event of each. */
  readonly #bySubject = new Map<string, { readonly text: string; readonly atMs: number }>();
  /** The time of the latest event that is no longer kept, or that may have been missed. */
  #droppedAtMs: number;
  readonly #clock: Clock;
  readonly #max: number;

  constructor(clock: Clock, max: number) {
    this.#clock = clock;
    this.#max = max;
    // What happened before this process started is unknown to it.
    this.#droppedAtMs = clock.nowMs() - CLOCK_SKEW_MS - 1;
  }

  add(subject: string, text: string): void {
    const nowMs = this.#clock.nowMs();
    this.#bySubject.delete(subject);
    this.#bySubject.set(subject, { text, atMs: nowMs });
    for (const [oldest, { atMs }] of this.#bySubject) {
      const isExpired = nowMs - atMs > REPLAY_MS;
      if (!isExpired && this.#bySubject.size <= this.#max) break;
      this.#droppedAtMs = atMs;
      this.#bySubject.delete(oldest);
    }
  }

  /** Nothing up to now can be replayed. */
  missed(): void {
    this.#bySubject.clear();
    this.#droppedAtMs = this.#clock.nowMs();
  }

  /** The events from this time on, oldest first. Null when some of them may be no longer kept. */
  since(sinceMs: number): readonly string[] | null {
    const fromMs = sinceMs - CLOCK_SKEW_MS;
    if (this.#droppedAtMs >= fromMs) return null;
    return [...this.#bySubject.values()].filter(({ atMs }) => atMs >= fromMs).map(({ text }) => text);
  }
}
