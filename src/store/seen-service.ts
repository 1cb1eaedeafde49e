import type { Redis } from 'ioredis';
import { type SeenService, storedService } from '../contracts/seen-service';
import { MINUTE_MS } from '../domain/timestamp';
import type { SeenServiceStore } from '../workflow/service-view';
import { KEYS } from './keys';
import { redisTimeMs } from './redis-time';
import { Script } from './scripts';

/** What all processes have seen of the service: one JSON, to which each adds every few seconds (lua/see-service.lua). */

const script = new Script('see-service');
/** More fields than documented messages have. Further ones are not stored. */
const FIELDS_KEPT = 120;
const SLOT_MS = 10 * MINUTE_MS;
/** The current ten minutes and the hour before. */
const SLOTS_KEPT = 7;

export function createSeenServiceStore(redis: Redis): SeenServiceStore & {
  /** Adds what a process has seen. Not repeated, so that nothing counts twice. */
  add(seen: SeenService): Promise<void>;
} {
  return {
    async read() {
      const [json, nowMs] = await Promise.all([redis.get(KEYS.seenService), redisTimeMs(redis)]);
      const stored = storedService.parse(json === null ? { messages: {}, calls: {} } : JSON.parse(json));
      const oldest = Math.floor(nowMs / SLOT_MS) - SLOTS_KEPT;
      return { stored, oldestSlot: oldest };
    },
    async add(seen) {
      await script.run(redis, [KEYS.seenService], [JSON.stringify(seen), FIELDS_KEPT, SLOTS_KEPT, SLOT_MS]);
    },
  };
}
