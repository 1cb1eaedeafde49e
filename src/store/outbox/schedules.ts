import type { Redis } from 'ioredis';
import { QUEUE_NAMES, type QueueName } from '../../domain/vocabulary';
import type { OutboxRateLimits } from '../service/budgets';
import { KEYS } from '../keys';
import { texts, UnexpectedReply } from '../redis/parse';
import { createPermitQueueCheck } from './permits';
import { redisTimeMs } from '../redis/redis-time';
import { releaseClosedCircuits } from '../service/circuits';
import { Script } from '../scripts';

const pollDueScript = new Script('poll-due');
const readWaits = new Script('read-waits');

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
  };
}

const DUE_KEYS = {
  reports: KEYS.dueTows,
  violations: KEYS.dueViolations,
  deliveries: KEYS.dueDeliveries,
  runs: KEYS.dueRuns,
} as const satisfies Record<QueueName, string>;

/** The queues whose polls prepare something, and the keys that exist while there is something to prepare. */
const PREPARED: readonly QueueName[] = ['reports', 'violations'];
const PREPARED_KEYS = [KEYS.releasing, KEYS.permitQueueTows, KEYS.permitQueueViolations];

/** How long it is until a poll of each queue has something to do, ms; Infinity while nothing is scheduled. */
export async function waitsUntilDue(redis: Redis): Promise<Readonly<Record<QueueName, number>>> {
  const keys = [...QUEUE_NAMES.map((name) => DUE_KEYS[name]), ...PREPARED_KEYS];
  const reply = await readWaits.run(redis, keys, [QUEUE_NAMES.length]);
  if (!Array.isArray(reply)) throw new UnexpectedReply('read-waits');
  const isPrepared = Number(reply[QUEUE_NAMES.length]) > 0;
  const waitOf = (name: QueueName) => {
    if (isPrepared && PREPARED.includes(name)) return 0;
    const wait: unknown = reply[QUEUE_NAMES.indexOf(name)];
    return wait === '' ? Infinity : Number(wait);
  };
  return {
    reports: waitOf('reports'),
    violations: waitOf('violations'),
    deliveries: waitOf('deliveries'),
    runs: waitOf('runs'),
  };
}

function scheduleAt(redis: Redis, key: string): Schedule {
  return {
    pollDue: async (limit, visibilityTimeoutMs) =>
      texts(await pollDueScript.run(redis, [key], [limit, visibilityTimeoutMs]), 'poll-due'),

    async backlog() {
      const nowMs = await redisTimeMs(redis);
      const [due, [, oldest]] = await Promise.all([
        redis.zcount(key, '-inf', nowMs),
        redis.zrangebyscore(key, '-inf', nowMs, 'WITHSCORES', 'LIMIT', 0, 1),
      ]);
      return { due, oldestAgeMs: oldest === undefined ? 0 : Math.max(0, nowMs - Number(oldest)) };
    },
  };
}
