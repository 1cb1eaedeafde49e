import { setTimeout as pause } from 'node:timers/promises';
import type { TestRedis } from '../support/redis';

/** Something that runs and can be struck. */
export interface Mortal {
  /** Kills it with -9 and starts it again after `downMs`; false when it was down already. */
  kill(downMs: number): Promise<boolean>;
  /** Stops it in its tracks for `forMs`; false when it was down or frozen already, or was killed meanwhile. */
  freeze(forMs: number): Promise<boolean>;
}

/** A Redis server as something that can be struck: a new blow on one that is down or frozen does nothing. */
export function mortalRedis(redis: TestRedis): Mortal {
  let isStruck = false;
  const strike = async (blow: () => Promise<void>) => {
    if (isStruck) return false;
    isStruck = true;
    await blow();
    isStruck = false;
    return true;
  };
  return {
    kill: (downMs) =>
      strike(async () => {
        await redis.kill();
        await pause(downMs);
        await redis.start();
      }),
    freeze: (forMs) =>
      strike(async () => {
        redis.freeze();
        await pause(forMs);
        redis.thaw();
      }),
  };
}
