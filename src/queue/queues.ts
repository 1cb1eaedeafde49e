import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { DAY_MS } from '../domain/timestamp';
import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import type { OpsQueue } from '../workflow/ops/alarms';

/** The queues. A job carries the ids of its records and nothing else. */
export interface Queues {
  readonly byName: Readonly<Record<QueueName, Queue>>;
  /** How long the oldest job of a queue has waited for a worker, ms; 0 when no job waits. */
  oldestWaitMs(name: QueueName): Promise<number>;
  /** How many jobs have failed within a day. Those before are kept on the queue pages, and raise no alarm. */
  failed(name: QueueName): Promise<number>;
  /** How many more records the queue takes; null while it is paused. The rest of the backlog stays in the schedule. */
  room(name: QueueName): Promise<number | null>;
  /**
   * Adds jobs for records of one queue: one job for deliveries that came together, else one for each record. `perJob`
   * divides a backlog. Rejects when Redis cannot take them. The scheduler adds a lost job again.
   */
  add(name: QueueName, refs: readonly string[], perJob?: number): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** A connection that fails fast, so that adding a job never waits for Redis. */
  readonly connection: Redis;
  /** The hash tag of the partition, in braces. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Throttled: every connection attempt fails while Redis is away. */
  readonly log: Log;
}

/**
 * Records per job while more of them are due than the queue takes. A job costs more than processing a delivery, and a
 * third of the Redis commands of a tow.
 */
export const RECORDS_PER_JOB = {
  deliveries: 20,
  reports: 5,
  violations: 1,
  runs: 1,
  subscriptions: 1,
} as const satisfies Record<QueueName, number>;
/** Above this many waiting jobs the scheduler adds none. */
const WAITING_MAX = {
  deliveries: 300,
  reports: 100,
  violations: 300,
  runs: 300,
  subscriptions: 300,
} as const satisfies Record<QueueName, number>;
/** Shown on the queue pages. */
const COMPLETED_JOBS_KEPT = 1000;

const RECORD_FIELD = {
  reports: 'towing_reference_id',
  violations: 'violation_id',
  runs: 'run_id',
  subscriptions: 'subscription_id',
} as const satisfies Record<Exclude<QueueName, 'deliveries'>, string>;
const JOB_NAME = {
  deliveries: 'process-delivery',
  reports: 'send-report',
  violations: 'submit-violation',
  runs: 'carry-out-run',
  subscriptions: 'deliver-changes',
} as const satisfies Record<QueueName, string>;

/** Opens the queues in BullMQ. Adding a job rejects at once while Redis cannot be reached. */
export function createQueues(options: QueueOptions): Queues {
  const open = (name: QueueName) => {
    const queue = new Queue(name, {
      connection: options.connection,
      prefix: options.prefix,
      skipWaitingForReady: true,
      skipVersionCheck: true,
    });
    queue.on('error', (error) => options.log.debug('queue.failed', { queue: name, ...errorFacts(error) }));
    return queue;
  };
  const byName = {
    deliveries: open('deliveries'),
    reports: open('reports'),
    violations: open('violations'),
    runs: open('runs'),
    subscriptions: open('subscriptions'),
  };
  return {
    byName,
    async oldestWaitMs(name) {
      const { connection, clock } = options;
      const id = await connection.lindex(byName[name].toKey('wait'), -1);
      const addedAtMs = id === null ? null : await connection.hget(byName[name].toKey(id), 'timestamp');
      return addedAtMs === null ? 0 : Math.max(0, clock.nowMs() - Number(addedAtMs));
    },
    failed: (name) =>
      // Their scores are the times at which they failed.
      options.connection.zcount(byName[name].toKey('failed'), options.clock.nowMs() - DAY_MS, '+inf'),
    async room(name) {
      const [waiting, isPaused] = await Promise.all([
        options.connection.llen(byName[name].toKey('wait')),
        byName[name].isPaused(),
      ]);
      return isPaused ? null : Math.max(0, WAITING_MAX[name] - waiting) * RECORDS_PER_JOB[name];
    },
    async add(name, refs, perJob = name === 'deliveries' ? Infinity : 1) {
      const jobs = jobsFor(name, refs, Math.min(perJob, refs.length));
      const [first] = jobs;
      // `add` costs half of `addBulk`, which runs a Redis transaction.
      if (first && jobs.length === 1) await byName[name].add(first.name, first.data, first.opts);
      else if (first) await byName[name].addBulk(jobs);
    },
    async close() {
      await Promise.all(QUEUE_NAMES.map((name) => byName[name].close()));
    },
  };
}

const KEPT = { removeOnComplete: { count: COMPLETED_JOBS_KEPT }, removeOnFail: { count: COMPLETED_JOBS_KEPT } };

/** A record may have several jobs at a time. The version check of its commits lets only one of them succeed. */
function jobsFor(queue: QueueName, refs: readonly string[], perJob: number) {
  return Array.from({ length: Math.ceil(refs.length / perJob) }, (_, place) => ({
    name: JOB_NAME[queue],
    data: payloadOf(queue, refs.slice(place * perJob, (place + 1) * perJob)),
    opts: KEPT,
  }));
}

function payloadOf(queue: QueueName, refs: readonly string[]) {
  if (queue === 'deliveries') return { delivery_ids: refs };
  return refs.length === 1 ? { [RECORD_FIELD[queue]]: refs[0] } : { towing_reference_ids: refs };
}

/** The work of a queue that no worker has taken yet. */
export interface QueueBacklog {
  readonly due: number;
  /** How long the oldest work has been due, or has waited as a job, ms. */
  readonly oldestAgeMs: number;
}

/** Reads the backlog of a queue. Rejects when Redis does. */
export type BacklogReader = (name: QueueName) => Promise<QueueBacklog>;

/** Reads backlogs from the schedules and from the waiting jobs. */
export function backlogReader(
  queues: Queues,
  schedules: Readonly<Record<QueueName, { backlog(): Promise<QueueBacklog> }>>,
): BacklogReader {
  return async (name) => {
    const [{ due, oldestAgeMs }, oldestWaitMs] = await Promise.all([
      schedules[name].backlog(),
      queues.oldestWaitMs(name),
    ]);
    // Work that the scheduler has moved into the queue is no longer due, but still waits for a worker.
    return { due, oldestAgeMs: Math.max(oldestAgeMs, oldestWaitMs) };
  };
}

/** Reads a queue as the API shows it. Rejects when Redis does. */
export async function readQueueView(queues: Queues, backlogOf: BacklogReader, name: QueueName): Promise<OpsQueue> {
  const queue = queues.byName[name];
  const [counts, failed, { due, oldestAgeMs }, paused] = await Promise.all([
    queue.getJobCounts('waiting', 'active'),
    queues.failed(name),
    backlogOf(name),
    queue.isPaused(),
  ]);
  return {
    name,
    waiting: counts['waiting'] ?? 0,
    active: counts['active'] ?? 0,
    failed,
    due,
    oldest_age_ms: oldestAgeMs,
    paused,
  };
}
