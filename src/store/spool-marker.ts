import type { Redis } from 'ioredis';
import { KEYS } from './keys';

/** The id of the disk that console and workers share, so that a process with another disk can tell. */
export function createSpoolMarker(redis: Redis) {
  const read = () => redis.get(KEYS.spoolMarker);
  return {
    read,
    /** Makes this the id unless there is one; returns the one that counts. */
    async claim(id: string): Promise<string> {
      await redis.set(KEYS.spoolMarker, id, 'NX');
      return (await read()) ?? id;
    },
    /** No disk is the one in use any more: the next that is claimed becomes it. */
    async forget(): Promise<void> {
      await redis.del(KEYS.spoolMarker);
    },
  };
}
