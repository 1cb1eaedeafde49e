import type { Redis } from 'ioredis';
import type { Effect } from './commit';
import { KEYS } from './keys';
import { storeEvent, type StoreEvent } from '../contracts/records';

/**
 * Nudges: a commit that makes work due now publishes the name of its queue, so that the schedulers of all workers poll
 * at once. A lost nudge delays the work by the interval of a scheduler.
 */

const SCHEDULES: ReadonlyMap<string, string> = new Map([
  [KEYS.dueDeliveries, 'deliveries'],
  [KEYS.dueTows, 'reports'],
  [KEYS.dueViolations, 'violations'],
  [KEYS.dueBulk, 'bulk'],
]);

/** The nudges for the effects of a commit. */
export function nudgesOf(effects: readonly Effect[], nowMs: number): Effect[] {
  const due = effects.flatMap(([command, key, score]) =>
    command === 'ZADD' && Number(score) <= nowMs ? (SCHEDULES.get(key) ?? []) : [],
  );
  return [...new Set(due)].map((schedule) => ['PUBLISH', KEYS.nudges, schedule]);
}

/** Calls the listener with the queue of each nudge. Uses up the connection: it ends with it. */
export async function onNudges(subscriber: Redis, listener: (schedule: string) => void): Promise<void> {
  subscriber.on('message', (channel: string, message: string) => {
    listener(channel === KEYS.accepted ? 'deliveries' : message);
  });
  await subscriber.subscribe(KEYS.nudges, KEYS.accepted);
}

/** Calls the listener with every event of the store, until the returned function is called. Uses up the connection. */
export async function subscribeToEvents(subscriber: Redis, onEvent: (event: StoreEvent) => void): Promise<() => void> {
  const onMessage = (_channel: string, message: string) => {
    const event = storeEvent.safeParse(JSON.parse(message));
    if (event.success) onEvent(event.data);
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(KEYS.events, KEYS.accepted);
  return () => {
    subscriber.off('message', onMessage);
  };
}
