import { type Redis, ReplyError } from 'ioredis';
import { storeEvent, type EventType, type StoreEvent } from '../../contracts/outbox/records';
import type { Effect } from '../redis/commit';
import { KEYS } from '../keys';

/** The events of changes, behind /api/events and live pages. Those of webhooks are published by lua/accept.lua. */

/** An event to publish. Without a tow or violation it concerns the whole operator. */
export interface NewEvent {
  readonly type: EventType;
  readonly towingReferenceId?: string;
  readonly violationId?: string;
}

/** The effect that publishes an event. `atMs`: Redis time. */
export function eventEffect({ type, towingReferenceId, violationId }: NewEvent, atMs: number): Effect {
  const event = { type, towing_reference_id: towingReferenceId, violation_id: violationId, at_ms: atMs };
  return ['PUBLISH', KEYS.events, JSON.stringify(event)];
}

/** Calls `onEvent` with every event of the store, and `subscribed` when earlier ones may be missing; see keepSubscribed. */
export function subscribeToEvents(
  connection: Redis,
  onEvent: (event: StoreEvent) => void,
  { subscribed, refused }: Pick<Subscriber, 'subscribed' | 'refused'> = {},
): Promise<void> {
  const message = (_channel: string, text: string) => {
    const event = storeEvent.safeParse(JSON.parse(text));
    if (event.success) onEvent(event.data);
  };
  return keepSubscribed(connection, [KEYS.events], { message, subscribed, refused });
}

/** A refused subscription is tried again after this time: someone may have granted the permission. */
const RETRY_MS = 5000;

/** What happens to a subscription. */
export interface Subscriber {
  readonly message: (channel: string, message: string) => void;
  /** Redis has confirmed it, also after each reconnect. Messages since the connection was lost were missed. */
  readonly subscribed?: (() => void) | undefined;
  /** Redis has refused it. It is tried again. */
  readonly refused?: ((error: unknown) => void) | undefined;
}

/**
 * Keeps a connection subscribed to channels. Resolves when Redis has confirmed it for the first time, and never rejects.
 * Uses up the connection: the subscription ends with it.
 */
export function keepSubscribed(
  connection: Redis,
  channels: readonly string[],
  { message, subscribed, refused }: Subscriber,
): Promise<void> {
  // The client library awaits nothing when it subscribes again, and an unhandled rejection would end the process.
  connection.options.autoResubscribe = false;
  connection.on('message', message);
  return new Promise((resolve) => {
    let isAsked = false;
    let retry: NodeJS.Timeout | undefined;
    const subscribe = () => {
      clearTimeout(retry);
      // The client library repeats a command whose connection was lost before its reply.
      if (isAsked) return;
      isAsked = true;
      connection.subscribe(...channels).then(
        () => {
          isAsked = false;
          subscribed?.();
          return resolve();
        },
        (error: unknown) => {
          isAsked = false;
          // When the connection was lost, the subscription is made again as soon as it is back.
          if (!(error instanceof ReplyError)) return;
          refused?.(error);
          retry = setTimeout(subscribe, RETRY_MS).unref();
        },
      );
    };
    connection.on('ready', subscribe);
    if (connection.status === 'ready') subscribe();
  });
}
