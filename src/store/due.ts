import type { Redis } from 'ioredis';
import { releaseBlocked } from './circuits';
import { KEYS } from './keys';
import { texts } from './parse';
import { createLineCheck } from './permit-line';
import { Script } from './scripts';

const takeDue = new Script('take-due');

/** A schedule: the only timer of its kind of work. */
export interface DueSet {
  /** Takes up to `limit` of what is due; what is not settled is due again after `forwardMs`. */
  take(limit: number, forwardMs: number): Promise<readonly string[]>;
  /** How much is due and not handed out yet, and how long the oldest of it has been due, ms (0 when there is none). */
  backlog(): Promise<{ due: number; oldestAgeMs: number }>;
}

export function createDueSets(redis: Redis): {
  tows: DueSet;
  deliveries: DueSet;
  violations: DueSet;
  bulk: DueSet;
} {
  const checkLineOf = { tows: createLineCheck(redis, 'tow'), violations: createLineCheck(redis, 'violation') };
  const [tows, violations] = [dueSet(redis, KEYS.dueTows), dueSet(redis, KEYS.dueViolations)];
  return {
    tows: {
      ...tows,
      async take(limit, forwardMs) {
        await releaseBlocked(redis);
        await checkLineOf.tows();
        return tows.take(limit, forwardMs);
      },
    },
    violations: {
      ...violations,
      async take(limit, forwardMs) {
        await checkLineOf.violations();
        return violations.take(limit, forwardMs);
      },
    },
    deliveries: dueSet(redis, KEYS.dueDeliveries),
    bulk: dueSet(redis, KEYS.dueBulk),
  };
}

function dueSet(redis: Redis, key: string): DueSet {
  return {
    take: async (limit, forwardMs) => texts(await takeDue.run(redis, [key], [limit, forwardMs]), 'take-due'),

    async backlog() {
      const [seconds] = await redis.time();
      const nowMs = Number(seconds) * 1000;
      const [due, [, oldest]] = await Promise.all([
        redis.zcount(key, '-inf', nowMs),
        redis.zrangebyscore(key, '-inf', nowMs, 'WITHSCORES', 'LIMIT', 0, 1),
      ]);
      return { due, oldestAgeMs: oldest === undefined ? 0 : Math.max(0, nowMs - Number(oldest)) };
    },
  };
}
