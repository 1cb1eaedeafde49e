import { Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Outcome } from '../../jobs/outcome';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';
import type { QueueName, Queues } from './queues';

/** Does one piece of work for the record a job names. */
export type Handler = (payload: unknown) => Promise<Outcome>;

export interface WorkersOptions {
  readonly queues: Queues;
  readonly handlers: Readonly<Record<QueueName, Handler>>;
  /** Opens a patient connection: workers block on theirs. */
  readonly connection: Redis;
  readonly prefix: string;
  readonly concurrency: number;
  /** Equal to the lease of a claim. */
  readonly lockMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Workers {
  /** Takes no new job and waits for the running ones. */
  stop(): Promise<void>;
  /** When a job last ended, on the monotonic clock, ms. */
  lastTurnMs(): number;
}

/** Starts the workers of all queues: the only place where an Outcome becomes something BullMQ understands. */
export function startWorkers(options: WorkersOptions): Workers {
  let lastTurnMs = options.clock.monotonicMs();
  const workers = (['deliveries', 'reports'] as const).map((name) => {
    const worker = new Worker(
      name,
      async (job) => {
        const what = await turn(name, job, options);
        lastTurnMs = options.clock.monotonicMs();
        return what;
      },
      {
        connection: options.connection,
        prefix: options.prefix,
        concurrency: options.concurrency,
        lockDuration: options.lockMs,
        stalledInterval: 5000,
        // A job is only a wake-up: however often its worker died, it may wake another.
        maxStalledCount: 1_000_000,
        skipVersionCheck: true,
      },
    );
    worker.on('error', throttled(name, options));
    return worker;
  });
  return {
    async stop() {
      await Promise.all(workers.map((worker) => worker.close()));
    },
    lastTurnMs: () => lastTurnMs,
  };
}

/** Runs one job. It never throws: a failed run leaves its record's due mark, and the pump comes back to it. */
async function turn(queue: QueueName, job: Job<unknown>, options: WorkersOptions): Promise<string> {
  const outcome = await options.handlers[queue](job.data).catch((error: unknown): Outcome => {
    options.log.error('job.failed', { queue, job_id: job.id, ...errorFacts(error) });
    return { kind: 'done', what: 'failed' };
  });
  switch (outcome.kind) {
    case 'done':
      return outcome.what;
    case 'more':
      await wakeAgain(queue, outcome.ref, options);
      return outcome.what;
  }
}

/** The same record once more, behind all others that wait: tows take turns. */
async function wakeAgain(queue: QueueName, ref: string, { queues, log }: WorkersOptions): Promise<void> {
  await queues.wake([{ queue, ref }]).catch((error: unknown) => {
    log.debug('wake.failed', { queue, ...errorFacts(error) });
  });
}

const REPEAT_LOG_AFTER_MS = 10_000;

/** A worker whose Redis is read-only emits thousands of errors a second. */
function throttled(queue: QueueName, { clock, log }: WorkersOptions) {
  let quietUntilMs = 0;
  return (error: Error) => {
    if (clock.monotonicMs() < quietUntilMs) return;
    quietUntilMs = clock.monotonicMs() + REPEAT_LOG_AFTER_MS;
    log.error('worker.failed', { queue, ...errorFacts(error), stack: undefined });
  };
}
