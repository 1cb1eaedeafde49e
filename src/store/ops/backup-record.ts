import type { Redis } from 'ioredis';
import { backupRecord, type BackupRecord } from '../../contracts/ops/backup';
import { KEYS } from '../keys';
import { redisTimeMs, redisTimeUs } from '../redis/redis-time';

/** More than four days of hourly backups. A backup is verified soon after it was taken. */
const BEGUN_MAX = 100;

const msOf = (us: number) => Math.floor(us / 1000);

/** What Redis knows about its backups. Times are ms since the epoch, Redis time. */
export interface BackupRecordStore {
  read(): Promise<BackupRecord>;
  /**
   * Writes the present time into the data and returns it. A snapshot that contains it was taken later: it has
   * everything that was acknowledged before that time.
   */
  begin(): Promise<number>;
  /**
   * Records that the backup of `takenAtMs` was verified, unless this Redis does not know that it began it, or a later one
   * was verified already. `contained` is the record in the snapshot of the backup.
   */
  verified(takenAtMs: number, contained: BackupRecord): Promise<'noted' | 'not_begun_here' | 'later_verified'>;
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
      const nowUs = await redisTimeUs(redis);
      const begun = [...(await read()).begunAtUs, nowUs].slice(-BEGUN_MAX);
      await redis.hset(KEYS.backup, 'begun_at', msOf(nowUs), 'begun', begun.join(','));
      return msOf(nowUs);
    },
    async verified(takenAtMs, contained) {
      const { begunAtUs, takenAtMs: lastMs } = await read();
      if (!contained.begunAtUs.some((us) => msOf(us) === takenAtMs && begunAtUs.includes(us))) return 'not_begun_here';
      if ((lastMs ?? 0) > takenAtMs) return 'later_verified';
      await redis.hset(KEYS.backup, 'taken_at', takenAtMs, 'verified_at', await redisTimeMs(redis));
      return 'noted';
    },
  };
}
