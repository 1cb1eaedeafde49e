import { Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Outcome } from '../../jobs/outcome';
import { errorFacts, type Log } from '../platform/log';
import { within } from '../platform/within';
import type { Progress } from './progress';
import { QUEUE_NAMES, type QueueName, type Queues } from './queues';

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
  /** How long running jobs may take to end at a stop. */
  readonly stopGraceMs: number;
  readonly progress: Progress;
  /** Throttled: a worker whose Redis is read-only fails thousands of times a second. */
  readonly log: Log;
}

export interface Workers {
  /** Takes no new job and waits for the running ones, but not much longer than the grace. */
  stop(): Promise<void>;
}

/** Starts the workers of all queues: the only place where an Outcome becomes something BullMQ understands. */
export function startWorkers(options: WorkersOptions): Workers {
  const running = new Set<Promise<unknown>>();
  const workers = QUEUE_NAMES.map((name) => {
    const worker = new Worker(
      name,
      async (job) => {
        options.progress.took(name);
        const run = turn(name, job, options);
        running.add(run);
        const what = await run;
        running.delete(run);
        options.progress.ended(name);
        return what;
      },
      {
        connection: options.connection,
        prefix: options.prefix,
        concurrency: options.concurrency,
        lockDuration: options.lockMs,
        stalledInterval: 5000,
        // A job only names a record: it may run again however often its worker died.
        maxStalledCount: 1_000_000,
        skipVersionCheck: true,
      },
    );
    worker.on('error', (error) => {
      options.log.error('worker.failed', { queue: name, ...errorFacts(error), stack: undefined });
    });
    return worker;
  });
  return {
    async stop() {
      await Promise.all(workers.map((worker) => stopWorker(worker, running, options)));
    },
  };
}

/** What Redis may take to answer at a stop; a healthy one needs milliseconds. */
const ANSWER_MS = 1000;

/**
 * Takes no new job, lets the running ones end within the grace, and closes. A worker that is asked to close in good order
 * waits without limit for a job that does not end or a Redis that does not answer; so it is closed by force after the
 * grace. The schedule brings its records up again.
 */
async function stopWorker(
  worker: Worker,
  running: ReadonlySet<Promise<unknown>>,
  options: WorkersOptions,
): Promise<void> {
  await worker.pause(true);
  const haveEnded = await within(options.stopGraceMs, Promise.allSettled(running));
  const answers = await within(ANSWER_MS, options.connection.ping());
  await within(ANSWER_MS, worker.close(!(haveEnded && answers)));
}

/** Runs one job. Never throws: after a failed run its record is still on the schedule, and the poller takes it again. */
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
