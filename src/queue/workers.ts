import { setTimeout as sleep } from 'node:timers/promises';
import { Worker, type Job } from 'bullmq';
import type { Redis } from 'ioredis';
import type { Outcome } from '../../jobs/outcome';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';
import type { Progress } from './progress';
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
  /** How long running jobs may take to end at a stop. */
  readonly stopGraceMs: number;
  readonly progress: Progress;
  readonly clock: Clock;
  readonly log: Log;
}

export interface Workers {
  /** Takes no new job and waits for the running ones, but no longer than the grace. */
  stop(): Promise<void>;
}

/** Starts the workers of all queues: the only place where an Outcome becomes something BullMQ understands. */
export function startWorkers(options: WorkersOptions): Workers {
  const workers = (['deliveries', 'reports'] as const).map((name) => {
    const worker = new Worker(
      name,
      async (job) => {
        const what = await turn(name, job, options);
        options.progress.ended(name);
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
      await Promise.all(workers.map((worker) => closeWithin(worker, options.stopGraceMs)));
    },
  };
}

/** While Redis is away a worker never finishes closing; what it still runs is then left to its due mark. */
async function closeWithin(worker: Worker, graceMs: number): Promise<void> {
  const ended = new AbortController();
  const closing = worker.close();
  const tooLong = sleep(graceMs, 'too_long', { signal: ended.signal });
  tooLong.catch(() => {});
  const first = await Promise.race([closing, tooLong]);
  ended.abort();
  if (first === 'too_long') await worker.close(true);
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
