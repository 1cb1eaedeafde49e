import type { Redis } from 'ioredis';
import { KEYS } from '../keys';

/** The id of the disk that consoles and workers share, by which a process with another disk detects it. */
export function createSpoolMarker(redis: Redis) {
  const read = () => redis.get(KEYS.spoolMarker);
  return {
    read,
    /** Stores this id unless one is stored; returns the stored id. */
    async claim(id: string, { alarmMs }: { alarmMs: number | null }): Promise<string> {
      // One command, so that a process cannot end between the marker and its alarm, or raise the alarm for another's
      // claim.
      if (alarmMs !== null) await redis.msetnx(KEYS.spoolMarker, id, KEYS.spoolAlarm, alarmMs);
      await redis.set(KEYS.spoolMarker, id, 'NX');
      return (await read()) ?? id;
    },
    /** When a disk in use was claimed by a Redis without records, Unix ms; else null. */
    async alarmMs(): Promise<number | null> {
      const setMs = await redis.get(KEYS.spoolAlarm);
      return setMs === null ? null : Number(setMs);
    },
    /** Raises the alarm unless it is raised: Redis was emptied, Unix ms. */
    async raise(alarmMs: number): Promise<void> {
      await redis.set(KEYS.spoolAlarm, alarmMs, 'NX');
    },
    /** Replaces the stored id and ends the alarm. */
    async adopt(id: string): Promise<void> {
      await redis.multi().set(KEYS.spoolMarker, id).del(KEYS.spoolAlarm).exec();
    },
  };
}
