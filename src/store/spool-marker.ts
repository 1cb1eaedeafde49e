import type { Redis } from 'ioredis';
import { KEYS } from './keys';

/** The id of the disk that console and workers share, so that a process with another disk can tell. */
export function createSpoolMarker(redis: Redis) {
  const read = () => redis.get(KEYS.spoolMarker);
  return {
    read,
    /** Makes this the id unless there is one; returns the one that counts. */
    async claim(id: string, { alarmMs }: { alarmMs: number | null }): Promise<string> {
      // One command, so that no process ends between marker and alarm, and none alarms about another's claim.
      if (alarmMs !== null) await redis.msetnx(KEYS.spoolMarker, id, KEYS.spoolAlarm, alarmMs);
      await redis.set(KEYS.spoolMarker, id, 'NX');
      return (await read()) ?? id;
    },
    /** When a disk in use was claimed by a Redis without records, Unix ms; null unless that happened. */
    async alarmMs(): Promise<number | null> {
      const setMs = await redis.get(KEYS.spoolAlarm);
      return setMs === null ? null : Number(setMs);
    },
    /** Makes this the id in place of another, and ends the alarm. */
    async adopt(id: string): Promise<void> {
      await redis.multi().set(KEYS.spoolMarker, id).del(KEYS.spoolAlarm).exec();
    },
  };
}
