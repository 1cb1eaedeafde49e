import type { Redis } from 'ioredis';
import type { Clock } from '../platform/clock';
import { lockEpochKey, lockKey } from './keys';
import { text } from './parse';
import { Script } from './scripts';

const takeLock = new Script('take-lock');
const renewLock = new Script('renew-lock');
const unlock = new Script('unlock');

/**
 * Work that one process does at a time. A lock only saves work and never makes it safe: its holder may freeze and wake up
 * after it ran out. What must never be done by two rests on the fencing number.
 */
export interface Locks {
  /** Takes a lock for `ttlMs`; null while somebody else holds it. */
  take(name: string, ttlMs: number): Promise<HeldLock | null>;
}

export interface HeldLock {
  /** The fencing number: no other taking of this lock ever got it, and later ones get higher ones. */
  readonly epoch: number;
  /** Makes it last for its time from now; false when it was lost. */
  renew(): Promise<boolean>;
  /** False once it may have run out by our own clock, whatever Redis would say. */
  isSurelyHeld(): boolean;
  /** Gives it back, if it still is ours. */
  giveBack(): Promise<void>;
}

/** Locks in Redis, held by processes. */
export function createLocks(redis: Redis, clock: Clock): Locks {
  return {
    async take(name, ttlMs) {
      const key = lockKey(name);
      const holder = clock.id();
      let heldUntilMs = clock.monotonicMs() + ttlMs;
      // Archiving frees memory, and needs its lock for that.
      const reply = await takeLock.runWhenFull(redis, [key, lockEpochKey(name)], [holder, ttlMs]);
      const epoch = Number(text(reply, 'take-lock'));
      if (epoch === 0) return null;
      return {
        epoch,
        async renew() {
          const untilMs = clock.monotonicMs() + ttlMs;
          const isOurs = text(await renewLock.run(redis, [key], [holder, ttlMs]), 'renew-lock') === '1';
          heldUntilMs = isOurs ? untilMs : 0;
          return isOurs;
        },
        isSurelyHeld: () => clock.monotonicMs() < heldUntilMs,
        async giveBack() {
          heldUntilMs = 0;
          await unlock.run(redis, [key], [holder]);
        },
      };
    },
  };
}
