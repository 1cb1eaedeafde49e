import type { Redis } from 'ioredis';
import { storeEvent, type EventType, type StoreEvent } from '../contracts/records';
import type { Effect } from './commit';
import { KEYS } from './keys';
import { keepSubscribed, type Subscriber } from './subscription';

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
