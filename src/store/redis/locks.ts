import type { Redis } from 'ioredis';
import { startAge, type Clock } from '../../platform/clock';
import type { Locks } from '../../workflow/ports';
import { lockEpochKey, lockKey } from '../keys';
import { text } from './parse';
import { Script } from '../scripts';

/**
 * The locks between processes. A lock only avoids duplicate work and never makes work safe: its owner may freeze, and
 * continue after the lock has expired. What must never happen twice depends on the fencing number, or on the version of
 * a record. The lock on a folder of one machine is another one (src/embedded-redis/folder-lock.ts): it needs no Redis.
 */

const script = new Script('lock');

/** Acquires the lock at `key` for `ttlMs`; false while another owner has it. */
export async function acquireLock(redis: Redis, key: string, owner: string, ttlMs: number): Promise<boolean> {
  return text(await script.run(redis, [key], ['acquire', owner, ttlMs]), 'lock') !== '0';
}

/** Makes the lock expire `ttlMs` from now; false when this owner does not have it. */
export async function renewLock(redis: Redis, key: string, owner: string, ttlMs: number): Promise<boolean> {
  return text(await script.run(redis, [key], ['renew', owner, ttlMs]), 'lock') === '1';
}

/** Releases the lock if this owner has it. */
export async function releaseLock(redis: Redis, key: string, owner: string): Promise<void> {
  await script.run(redis, [key], ['release', owner]);
}

/** The fencing number of the lock's owner; null while no process has it. */
export async function ownedEpoch(redis: Redis, name: string): Promise<number | null> {
  if ((await redis.get(lockKey(name))) === null) return null;
  const epoch = await redis.get(lockEpochKey(name));
  return epoch === null ? null : Number(epoch);
}

const over = () => Infinity;

export function createLocks(redis: Redis, clock: Clock): Locks {
  return {
    async acquire(name, ttlMs) {
      const key = lockKey(name);
      const owner = clock.id();
      let ageMs = startAge(clock);
      // Archiving frees memory, so its lock must be available when Redis is full.
      const reply = await script.run(redis, [key, lockEpochKey(name)], ['acquire', owner, ttlMs], { whenFull: true });
      const epoch = Number(text(reply, 'lock'));
      if (epoch === 0) return null;
      return {
        epoch,
        async renew() {
          const renewedAgeMs = startAge(clock);
          const isOwned = await renewLock(redis, key, owner, ttlMs);
          ageMs = isOwned ? renewedAgeMs : over;
          return isOwned;
        },
        isSurelyOwned: () => ageMs() < ttlMs,
        async release() {
          ageMs = over;
          await releaseLock(redis, key, owner);
        },
      };
    },
  };
}
