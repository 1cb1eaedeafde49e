import { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';

/** The queues by name. A job names one record and carries nothing else. */
export const QUEUE_NAMES = ['deliveries', 'reports', 'violations'] as const;
export type QueueName = (typeof QUEUE_NAMES)[number];

/** One wake-up: the field that names the record, and the record. */
export interface WakeUp {
  readonly queue: QueueName;
  readonly ref: string;
}

export interface Queues {
  readonly byName: Readonly<Record<QueueName, Queue>>;
  /** How long the oldest wake-up of a queue has been waiting for a worker, ms; 0 when none waits. */
  oldestWaitMs(name: QueueName): Promise<number>;
  /** Adds wake-ups, best effort: one that is lost is made again by the pump. Rejects when Redis cannot take them. */
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
  /**
   * Folds wake-ups of one record into one waiting job. It only saves work: with it off everything still holds, which a
   * test proves.
   */
  readonly deduplicate: boolean;
}

/** The last completed jobs are kept for people who look at the queue pages. */
const COMPLETED_JOBS_KEPT = 1000;

const RECORD_FIELD = {
  deliveries: 'delivery_id',
  reports: 'towing_reference_id',
  violations: 'violation_id',
} as const satisfies Record<QueueName, string>;
const JOB_NAME = {
  deliveries: 'process-delivery',
  reports: 'send-report',
  violations: 'submit-violation',
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
  const byName = { deliveries: open('deliveries'), reports: open('reports'), violations: open('violations') };
  return {
    byName,
    async oldestWaitMs(name) {
      const [oldest] = await byName[name].getJobs('waiting', 0, 0, true);
      return oldest ? Math.max(0, options.clock.nowMs() - oldest.timestamp) : 0;
    },
    async wake(wakeUps) {
      await Promise.all(
        QUEUE_NAMES.map(async (name) => {
          const jobs = wakeUps.filter(({ queue }) => queue === name).map(({ ref }) => jobFor(name, ref, options));
          if (jobs.length > 0) await byName[name].addBulk(jobs);
        }),
      );
    },
    async close() {
      await Promise.all(QUEUE_NAMES.map((name) => byName[name].close()));
    },
  };
}

function jobFor(queue: QueueName, ref: string, { deduplicate }: QueueOptions) {
  return {
    name: JOB_NAME[queue],
    data: { [RECORD_FIELD[queue]]: ref },
    opts: {
      removeOnComplete: { count: COMPLETED_JOBS_KEPT },
      removeOnFail: { count: COMPLETED_JOBS_KEPT },
      ...(deduplicate ? { deduplication: { id: ref, keepLastIfActive: true } } : {}),
    },
  };
}
