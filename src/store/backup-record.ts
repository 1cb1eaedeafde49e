import type { Redis } from 'ioredis';
import { backupRecord, type BackupRecord } from '../contracts/backup';
import { KEYS } from './keys';
import { redisTimeMs } from './redis-time';

/** What Redis knows about its backups. Times are ms since the epoch, Redis time. */
export interface BackupRecordStore {
  read(): Promise<BackupRecord>;
  /**
   * Writes the present time into the data and returns it. A snapshot that contains it was taken later: it has
   * everything that was acknowledged before that time.
   */
  begin(): Promise<number>;
  /**
   * Records that the backup of `takenAtMs` was verified. False when this Redis has not begun it, so that it belongs to
   * another installation, or a later one was verified already.
   */
  verified(takenAtMs: number): Promise<boolean>;
}

/** The age of the last backup that was verified, ms: the time since it was taken. Null while there is none. */
export async function readBackupAgeMs(redis: Redis): Promise<number | null> {
  const { takenAtMs } = await createBackupRecordStore(redis).read();
  return takenAtMs === null ? null : Math.max(0, (await redisTimeMs(redis)) - takenAtMs);
}

export function createBackupRecordStore(redis: Redis): BackupRecordStore {
  const read = async () => backupRecord.parse(await redis.hgetall(KEYS.backup));
  return {
    read,
    async begin() {
      const nowMs = await redisTimeMs(redis);
      await redis.hset(KEYS.backup, 'begun_at', nowMs);
      return nowMs;
    },
    async verified(takenAtMs) {
      const { begunAtMs, takenAtMs: lastMs } = await read();
      if (begunAtMs === null || begunAtMs < takenAtMs || (lastMs ?? 0) > takenAtMs) return false;
      await redis.hset(KEYS.backup, 'taken_at', takenAtMs, 'verified_at', await redisTimeMs(redis));
      return true;
    },
  };
}
