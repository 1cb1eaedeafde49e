import { WaitingError, Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { JobOutcome } from '../contracts/ops/jobs';
import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { within } from '../platform/timers';
import type { WorkerProgress } from './supervise';
import type { Queues } from './queues';

/** Works on the records that a job names. Once `isStopping`, it begins with no further one. */
export type JobHandler = (payload: unknown, isStopping: () => boolean) => Promise<JobOutcome>;

export interface WorkersOptions {
  readonly queues: Queues;
  readonly handlers: Readonly<Record<QueueName, JobHandler>>;
  /** Without a command timeout: workers use blocking reads. */
  readonly connection: Redis;
  readonly prefix: string;
  readonly concurrency: number;
  /** The lock of a BullMQ job, ms. Equal to the lease of a claim. */
  readonly lockMs: number;
  /** How long `stop` waits for running jobs, ms. */
  readonly stopGraceMs: number;
  /** Ends the calls of jobs that still run after that time, such as an upload. Their results are then stored. */
  readonly endCalls?: () => void;
  readonly progress: WorkerProgress;
  /** Throttled: a worker whose Redis is read-only fails thousands of times a second. */
  readonly log: Log;
}

export interface Workers {
  /** Takes no new job. Waits for running jobs at most 3 s longer than `stopGraceMs`. */
  stop(): Promise<void>;
}

/**
 * Jobs of a queue that one process runs at a time, where the setting is too many. Violations carry photos: many uploads
 * at once share a slow line, until none ends within its time limit and all of them start again.
 */
const JOBS_AT_ONCE_MAX: Partial<Record<QueueName, number>> = { violations: 2 };

/** Starts the workers of all queues. Only this file translates a JobOutcome for BullMQ. */
export function startWorkers(options: WorkersOptions): Workers {
  const running = new Set<Promise<unknown>>();
  let isStopping = false;
  const workers = QUEUE_NAMES.map((name) => {
    const worker = new Worker(
      name,
      async (job, token) => {
        // A worker that is paused still takes the job that it was waiting for.
        if (isStopping) return putBack(job, token);
        options.progress.runBegan(name);
        const run = runJob(name, job, { ...options, isStopping: () => isStopping });
        running.add(run);
        const what = await run;
        running.delete(run);
        options.progress.progressed(name);
        return what;
      },
      {
        connection: options.connection,
        prefix: options.prefix,
        concurrency: Math.min(options.concurrency, JOBS_AT_ONCE_MAX[name] ?? Infinity),
        lockDuration: options.lockMs,
        // The scheduler adds a lost job again within 11 s, so neither needs to be fast.
        stalledInterval: 60_000,
        // Below the time limit of the socket, s.
        drainDelay: 15,
        // A job only names a record and may be repeated any number of times.
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
      isStopping = true;
      await Promise.all(workers.map((worker) => stopWorker(worker, running, options)));
    },
  };
}

/**
 * Leaves a job to other workers. While Redis cannot take it back, its records become due again by their schedule.
 *
 * @throws WaitingError when it waits again, as BullMQ asks for.
 */
async function putBack(job: Job<unknown>, token: string | undefined): Promise<string> {
  const isBack = await job.moveToWait(token).then(
    () => true,
    () => false,
  );
  if (isBack) throw new WaitingError();
  return 'not_begun';
}

/** How long `stop` waits for Redis. A healthy one answers in milliseconds. */
const REDIS_REPLY_MS = 1000;
/** How long `stop` waits for the results of calls that it ended. */
const STORED_WITHIN_MS = 1000;

/**
 * Takes no new job, waits for running jobs within the grace time, and closes. A graceful `worker.close()` waits without
 * limit for a job that does not end or a Redis that does not answer, so the worker is closed by force then. Its records
 * become due again by their schedule. A call that still runs is ended first: stored as broken off, an upload is sent again
 * by another worker, while that of a lost worker is of unknown outcome.
 */
async function stopWorker(
  worker: Worker,
  running: ReadonlySet<Promise<unknown>>,
  options: WorkersOptions,
): Promise<void> {
  await worker.pause(true);
  let haveEnded = await within(options.stopGraceMs, Promise.allSettled(running));
  if (!haveEnded && options.endCalls) {
    options.endCalls();
    haveEnded = await within(STORED_WITHIN_MS, Promise.allSettled(running));
  }
  const answers = await within(REDIS_REPLY_MS, options.connection.ping());
  await within(REDIS_REPLY_MS, worker.close(!(haveEnded && answers)));
}

/** Runs one job. Never rejects: after a failed run its record is still scheduled and becomes due again. */
async function runJob(
  queue: QueueName,
  job: Job<unknown>,
  options: WorkersOptions & { readonly isStopping: () => boolean },
): Promise<string> {
  const outcome = await options.handlers[queue](job.data, options.isStopping).catch((error: unknown): JobOutcome => {
    options.log.error('job.failed', { queue, job_id: job.id, ...errorFacts(error) });
    return { kind: 'done', what: 'failed' };
  });
  switch (outcome.kind) {
    case 'done':
      return outcome.what;
    case 'continue':
      await addAgain(queue, outcome.ref, options);
      return outcome.what;
  }
}

/** Queues the same record again, behind all waiting jobs, so that records take turns. */
async function addAgain(queue: QueueName, ref: string, { queues, log }: WorkersOptions): Promise<void> {
  await queues.add(queue, [ref]).catch((error: unknown) => {
    log.debug('job.not_added', { queue, ...errorFacts(error) });
  });
}
