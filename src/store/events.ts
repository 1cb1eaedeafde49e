import type { Redis } from 'ioredis';
import { storeEvent, type StoreEvent } from '../contracts/records';
import { KEYS } from './keys';

/** Hands every change in the store to the listener, until the returned function is called. Needs its own connection. */
export async function subscribeToEvents(subscriber: Redis, onEvent: (event: StoreEvent) => void): Promise<() => void> {
  const onMessage = (_channel: string, message: string) => {
    const event = storeEvent.safeParse(JSON.parse(message));
    if (event.success) onEvent(event.data);
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(KEYS.events);
  return () => {
    subscriber.off('message', onMessage);
  };
}
