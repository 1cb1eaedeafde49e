import type { Express, Response } from 'express';
import { eventsQuery, isCursorAfter, MISSED, type ChangeView } from '../../contracts/ops/changes';
import { ROUTES } from '../../contracts/operator-routes';
import { failedRules } from '../../contracts/rules';
import type { Clock } from '../../platform/clock';
import { readChanges, type ChangeFeed } from '../../workflow/ops/changes';
import type { ApiServer } from '../api-server';
import { identify, type Authenticator, type Caller } from '../authenticate';
import { invalidFields, refusedResponse } from '../responses';
import { sendRefusal } from '../send-response';
import type { OperatorTools } from '../tools';

/** The feed of changes: pages of it, and all of it as server-sent events. */

/** Serves `GET /api/changes`. */
export function serveChanges(server: ApiServer, { changes, clock }: Pick<OperatorTools, 'changes' | 'clock'>): void {
  server.ask(ROUTES.listChanges, async ({ query: { wait, ...query } }) => {
    const { isExpired, items, nextCursor } = await readChanges(changes, { ...query, waitMs: wait * 1000 }, clock);
    if (!isExpired) return { answer: { items, next_cursor: nextCursor } };
    const message =
      'Changes after this cursor are missing: it is too old, or Redis was restored. Read all lists, and follow from next_cursor.';
    return refusedResponse(410, { code: 'cursor_expired', message, nextCursor });
  });
}

export interface EventStream {
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
const STREAM_LIMITS = { streamsOfKeyMax: 20, streamsMax: 500, repeatedMax: 1000 };
const RETRY_AFTER_MS = 30_000;
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-store',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
};

interface Subscriber {
  readonly caller: Caller;
  /** False while it gets what happened before. */
  isCurrent: boolean;
  /** Whether the process has seen changes during the last read of what happened before. */
  isOvertaken: boolean;
  /** The cursor of what it has got that way; null without. */
  hasUntil: string | null;
}

/**
 * Serves `GET /api/events` (role viewer). After `Last-Event-ID` or `after`, what happened since then comes first. What
 * cannot be read, and what follows after 1,000 such changes, is left out: `events.missed` takes its place, and the client
 * reads everything again.
 */
export function serveEvents(
  app: Express,
  authenticator: Authenticator,
  options: { clock: Clock; changes: ChangeFeed; heartbeatMs?: number } & Partial<typeof STREAM_LIMITS>,
): EventStream {
  const { changes, heartbeatMs = HEARTBEAT_MS, ...limits } = options;
  const { streamsOfKeyMax, streamsMax, repeatedMax } = { ...STREAM_LIMITS, ...limits };
  const subscribers = new Map<Response, Subscriber>();
  /** Ended streams whose last bytes the client has not read yet. Nothing may be written to them. */
  const ended = new Set<Response>();
  app[EVENTS_ROUTE.method](EVENTS_ROUTE.path, async (request, response) => {
    const caller = await identify(request, response, authenticator);
    // A response that is already destroyed emits no 'close', so its subscriber would never be removed.
    if (!caller || response.destroyed) return;
    const lastEventId = request.get('last-event-id');
    const query = eventsQuery.safeParse(lastEventId ? { after: lastEventId } : request.query);
    if (!query.success) return sendRefusal(response, invalidFields(failedRules(query.error)).refusal);
    const ofKey = [...subscribers.values()].filter((other) => other.caller.actor.id === caller.actor.id).length;
    if (ofKey >= streamsOfKeyMax) return sendRefusal(response, tooManyStreams(streamsOfKeyMax).refusal);
    if (subscribers.size >= streamsMax) return sendRefusal(response, STREAMS_FULL.refusal);
    response.writeHead(200, STREAM_HEADERS);
    // Express calls the handler of GET for HEAD, too.
    if (request.method === 'HEAD') return void response.end();
    response.write(`retry: ${RECONNECT_MS}\n\n`);
    const { after } = query.data;
    const subscriber = { caller, isCurrent: after === undefined, isOvertaken: false, hasUntil: null };
    subscribers.set(response, subscriber);
    response.on('close', () => {
      subscribers.delete(response);
      ended.delete(response);
    });
    // A client whose changes could not be read connects again, and names the last one that it has.
    if (after !== undefined) await catchUp(response, subscriber, after).catch(() => response.destroy());
  });
  const catchUp = async (response: Response, subscriber: Subscriber, after: string) => {
    let cursor = after;
    let repeated = 0;
    const skipTo = (now: string) => {
      response.write(missedText(now));
      cursor = now;
    };
    while (subscribers.has(response)) {
      subscriber.isOvertaken = false;
      // oxlint-disable-next-line eslint/no-await-in-loop
      const { isExpired, items, nextCursor } = await changes.read(cursor, { limit: repeatedMax });
      repeated += items.length;
      if (!subscribers.has(response)) return;
      if (isExpired) {
        skipTo(nextCursor);
      } else if (repeated > repeatedMax) {
        // oxlint-disable-next-line eslint/no-await-in-loop
        const now = await changes.now();
        if (!subscribers.has(response)) return;
        repeated = 0;
        skipTo(now);
      } else if (items.length > 0 || subscriber.isOvertaken) {
        for (const change of items) response.write(textOf(change));
        cursor = nextCursor;
      } else {
        subscriber.hasUntil = cursor;
        subscriber.isCurrent = true;
        return;
      }
    }
  };
  const sendTo = (response: Response, text: string) => {
    if (response.writableLength > UNREAD_BYTES_MAX) response.destroy();
    else response.write(text);
  };
  const send = (text: string) => {
    for (const response of subscribers.keys()) sendTo(response, text);
  };
  const sendChanges = (changed: readonly ChangeView[]) => {
    const all = changed.map(textOf).join('');
    for (const [response, subscriber] of subscribers) {
      const { isCurrent, hasUntil } = subscriber;
      if (!isCurrent) subscriber.isOvertaken = true;
      else if (hasUntil === null) sendTo(response, all);
      else {
        const more = changed.filter(({ cursor }) => isCursorAfter(cursor, hasUntil));
        if (more.length > 0) subscriber.hasUntil = null;
        sendTo(response, more.map(textOf).join(''));
      }
    }
  };
  const end = (subscriber: Response) => {
    // Its client may have left meanwhile.
    if (!subscribers.delete(subscriber)) return;
    ended.add(subscriber);
    subscriber.end();
  };
  const endInvalid = () => {
    for (const [subscriber, { caller }] of subscribers) {
      // While the store is unavailable, subscribers stay.
      caller.isStillValid().then(
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
  const unfollow = changes.follow({
    changed: sendChanges,
    missed: (cursor) => send(missedText(cursor)),
  });
  return {
    close() {
      clearInterval(heartbeat);
      unfollow();
      for (const subscriber of subscribers.keys()) end(subscriber);
    },
  };
}

function textOf(change: ChangeView): string {
  return `id: ${change.cursor}\ndata: ${JSON.stringify(change)}\n\n`;
}

function missedText(cursor: string): string {
  return `id: ${cursor}\ndata: ${JSON.stringify({ type: MISSED })}\n\n`;
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
