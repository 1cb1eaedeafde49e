import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';

/** The queues by name. A job names one record and carries nothing else. */
export const QUEUE_NAMES = ['deliveries', 'reports', 'violations', 'bulk'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** One record that needs a worker, and the queue of its job. */
export interface WakeUp {
  readonly queue: QueueName;
  readonly ref: string;
}

export interface Queues {
  readonly byName: Readonly<Record<QueueName, Queue>>;
  /** How long the oldest job of a queue has been waiting for a worker, ms; 0 when none waits. */
  oldestWaitMs(name: QueueName): Promise<number>;
  /** For how many records there is room in a queue, 0 while it is paused: the backlog waits in the schedule. */
  room(name: QueueName): Promise<number>;
  /** Adds jobs, best effort: the poller adds a lost one again. Rejects when Redis cannot take them. */
  wake(wakeUps: readonly WakeUp[]): Promise<void>;
  close(): Promise<void>;
}

export interface QueueOptions {
  /** A connection that fails fast (stack-facts 7). */
  readonly connection: Redis;
  /** The hash tag of the partition, in braces. */
  readonly prefix: string;
  readonly clock: Clock;
  /** Throttled: while Redis is away every try to connect fails. */
  readonly log: Log;
}

/** So many jobs of a queue wait at most, besides those of single changes. */
const WAITING_MAX = 300;
/** The last completed jobs are kept for people who look at the queue pages. */
const COMPLETED_JOBS_KEPT = 1000;

const RECORD_FIELD = {
  reports: 'towing_reference_id',
  violations: 'violation_id',
  bulk: 'bulk_id',
} as const satisfies Record<Exclude<QueueName, 'deliveries'>, string>;
const JOB_NAME = {
  deliveries: 'process-delivery',
  reports: 'send-report',
  violations: 'submit-violation',
  bulk: 'decide-tasks',
} as const satisfies Record<QueueName, string>;

/** The BullMQ side of waking workers. Adding a job fails at once while Redis cannot be reached. */
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
    bulk: open('bulk'),
  };
  return {
    byName,
    async oldestWaitMs(name) {
      const [oldest] = await byName[name].getJobs('waiting', 0, 0, true);
      return oldest ? Math.max(0, options.clock.nowMs() - oldest.timestamp) : 0;
    },
    async room(name) {
      const [waiting, isPaused] = await Promise.all([
        options.connection.llen(byName[name].toKey('wait')),
        byName[name].isPaused(),
      ]);
      if (isPaused) return 0;
      const perJob = name === 'deliveries' ? DELIVERIES_PER_JOB : 1;
      return Math.max(0, WAITING_MAX - waiting) * perJob;
    },
    async wake(wakeUps) {
      await Promise.all(
        QUEUE_NAMES.map(async (name) => {
          const refs = wakeUps.filter(({ queue }) => queue === name).map(({ ref }) => ref);
          const jobs = name === 'deliveries' ? deliveryJobs(refs) : refs.map((ref) => jobFor(name, ref));
          if (jobs.length > 0) await byName[name].addBulk(jobs);
        }),
      );
    },
    async close() {
      await Promise.all(QUEUE_NAMES.map((name) => byName[name].close()));
    },
  };
}

/** So many deliveries are processed by one job: a job of its own would cost more than each of them. */
const DELIVERIES_PER_JOB = 20;

const KEPT = { removeOnComplete: { count: COMPLETED_JOBS_KEPT }, removeOnFail: { count: COMPLETED_JOBS_KEPT } };

/** A record may have several jobs at a time: its version lets one of them work. */
function jobFor(queue: Exclude<QueueName, 'deliveries'>, ref: string) {
  return { name: JOB_NAME[queue], data: { [RECORD_FIELD[queue]]: ref }, opts: KEPT };
}

function deliveryJobs(ids: readonly string[]) {
  return Array.from({ length: Math.ceil(ids.length / DELIVERIES_PER_JOB) }, (_, place) => ({
    name: JOB_NAME.deliveries,
    data: { delivery_ids: ids.slice(place * DELIVERIES_PER_JOB, (place + 1) * DELIVERIES_PER_JOB) },
    opts: KEPT,
  }));
}
