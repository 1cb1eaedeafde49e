import { setTimeout as pause } from 'node:timers/promises';
import type { TestRedis } from '../support/redis';

/** A process that can be killed and frozen. */
export interface Killable {
  /** Kills it with SIGKILL and starts it again after `downMs`; false when it was already down. */
  kill(downMs: number): Promise<boolean>;
  /** Freezes it for `forMs`; false when it was down or frozen, or was killed in the meantime. */
  freeze(forMs: number): Promise<boolean>;
}

/** A Redis server as a killable process. A fault during another one has no effect. */
export function killableRedis(redis: TestRedis): Killable {
  let isDown = false;
  const strike = async (fault: () => Promise<void>) => {
    if (isDown) return false;
    isDown = true;
    await fault();
    isDown = false;
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
