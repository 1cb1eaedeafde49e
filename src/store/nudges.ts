import type { Redis } from 'ioredis';
import { KEYS } from './keys';

/** Tells the pollers of all workers that a queue has something due now. */
export function nudge(redis: Redis, queue: string): void {
  // A nudge that is lost costs the interval of a poller.
  redis.publish(KEYS.nudges, queue).catch(() => {});
}

const ACCEPTED = '"delivery.accepted"';

/** Hears nudges, and webhooks that were stored; needs a connection of its own, which ends it. */
export async function onNudges(subscriber: Redis, listener: (queue: string) => void): Promise<void> {
  subscriber.on('message', (channel: string, message: string) => {
    if (channel === KEYS.nudges) listener(message);
    else if (message.includes(ACCEPTED)) listener('deliveries');
  });
  await subscriber.subscribe(KEYS.nudges, KEYS.events);
}
