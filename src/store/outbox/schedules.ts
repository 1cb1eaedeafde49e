import type { Redis } from 'ioredis';
import type { QueueName } from '../../domain/vocabulary';
import type { OutboxRateLimits } from '../service/budgets';
import { KEYS } from '../keys';
import { texts } from '../redis/parse';
import { createPermitQueueCheck } from './permits';
import { recordsOf } from './records';
import { redisTimeMs } from '../redis/redis-time';
import { releaseClosedCircuits } from '../service/circuits';
import { Script } from '../scripts';

const pollDueScript = new Script('poll-due');

/** The schedule of one kind of work: its members by the time at which they are due. */
export interface Schedule {
  /**
   * Returns up to `limit` due members and reschedules each to `visibilityTimeoutMs` from now. So no other scheduler
   * returns them, and work whose job is lost becomes due again.
   */
  pollDue(limit: number, visibilityTimeoutMs: number): Promise<readonly string[]>;
  /** How many members are due, and how long the oldest of them has been due, ms (0 when none is). */
  backlog(): Promise<{ due: number; oldestAgeMs: number }>;
}

/**
 * The schedules of all queues. A poll of `reports` first releases what closed circuits blocked. Polls of `reports` and
 * `violations` first repair their waiting queues for permits, with `rateLimits` also the times of those in front.
 */
export function createSchedules(redis: Redis, rateLimits?: OutboxRateLimits): Readonly<Record<QueueName, Schedule>> {
  const withPreparation = (schedule: Schedule, prepare: () => Promise<unknown>): Schedule => ({
    backlog: () => schedule.backlog(),
    async pollDue(limit, visibilityTimeoutMs) {
      // First: a preparation that failed after the poll would leave the polled members rescheduled and unprocessed.
      await prepare();
      return schedule.pollDue(limit, visibilityTimeoutMs);
    },
  });
  const checkTows = createPermitQueueCheck(redis, 'tow', rateLimits?.tow);
  const checkViolations = createPermitQueueCheck(redis, 'violation', rateLimits?.violation);
  return {
    // Closed circuits release tows and violations alike, so one scheduler does it for both.
    reports: withPreparation(scheduleAt(redis, DUE_KEYS.reports), () =>
      Promise.all([releaseClosedCircuits(redis), checkTows()]),
    ),
    violations: withPreparation(scheduleAt(redis, DUE_KEYS.violations), checkViolations),
    deliveries: scheduleAt(redis, DUE_KEYS.deliveries),
    runs: scheduleAt(redis, DUE_KEYS.runs),
    subscriptions: scheduleAt(redis, DUE_KEYS.subscriptions),
  };
}

const DUE_KEYS = {
  reports: KEYS.dueTows,
  violations: KEYS.dueViolations,
  deliveries: KEYS.dueDeliveries,
  runs: KEYS.dueRuns,
  subscriptions: KEYS.dueSubscriptions,
} as const satisfies Record<QueueName, string>;

/** They exist while polls of reports and violations have something to prepare. */
const PREPARED_KEYS = [KEYS.releasing, KEYS.permitQueueTows, KEYS.permitQueueViolations];

/** How long it is until a poll of each queue has something to do, ms; Infinity while nothing is scheduled. */
export async function waitsUntilDue(redis: Redis): Promise<Readonly<Record<QueueName, number>>> {
  const first = (name: QueueName) => redis.zrange(DUE_KEYS[name], '0', '0', 'WITHSCORES');
  const [nowMs, prepared, reports, violations, deliveries, runs, subscriptions] = await Promise.all([
    // Not the estimate of this process, which lags after the machine slept.
    redisTimeMs(redis),
    redis.exists(...PREPARED_KEYS),
    first('reports'),
    first('violations'),
    first('deliveries'),
    first('runs'),
    first('subscriptions'),
  ]);
  // Scores are rounded up, and the time is rounded down.
  const waitOf = ([, score]: string[]) => (score === undefined ? Infinity : Math.max(0, Number(score) - nowMs - 1));
  return {
    reports: prepared > 0 ? 0 : waitOf(reports),
    violations: prepared > 0 ? 0 : waitOf(violations),
    deliveries: waitOf(deliveries),
    runs: waitOf(runs),
    subscriptions: waitOf(subscriptions),
  };
}

function scheduleAt(redis: Redis, key: string): Schedule {
  return {
    pollDue: async (limit, visibilityTimeoutMs) =>
      texts(await pollDueScript.run(redis, [key], [limit, visibilityTimeoutMs]), 'poll-due'),

    async backlog() {
      const [nowMs, [, oldest]] = await Promise.all([
        recordsOf(redis).nowMs(),
        redis.zrange(key, '0', '0', 'WITHSCORES'),
      ]);
      if (oldest === undefined || Number(oldest) > nowMs) return { due: 0, oldestAgeMs: 0 };
      return { due: await redis.zcount(key, '-inf', nowMs), oldestAgeMs: nowMs - Number(oldest) };
    },
  };
}
