import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { errorFacts } from '../platform/errors';
import type { ReadinessCheck } from '../platform/http';
import type { Log } from '../platform/log';
import { createResources, type Resources } from '../platform/resources';
import { within } from '../platform/timers';
import type { BacklogReader } from './backlog';
import type { Stall, WorkerPart, WorkerProgress } from './progress';
import type { Queues } from './queues';
import { watchForStall } from './stall-watch';

/** What happens to a stalled worker: it is rebuilt, or the callback is called, which ends the process. */
export type OnStall = 'rebuild' | (() => void);

export interface SupervisedWorker {
  /** The current status of each queue. */
  queues(): readonly SupervisedQueue[];
  /** The part that made no progress for the limit, until it makes progress again; else null. */
  stall(): Stall | null;
}

export interface SupervisedQueue {
  readonly name: QueueName;
  /** When the worker last started work of this queue, by the monotonic clock, ms; null when it has not yet. */
  readonly lastTookMs: number | null;
  /** True while the worker is stalled on this queue. */
  readonly isStalled: boolean;
}

export interface SuperviseTools {
  readonly queues: Queues;
  readonly backlogOf: BacklogReader;
  /** Whether Redis takes writes. While it does not, no worker can make progress. */
  readonly canWork: () => Promise<boolean>;
  /** How long a worker may make no progress. */
  readonly limitMs: number;
  readonly stopGraceMs: number;
  /** Closes the worker with the process. */
  readonly resources: Resources;
  readonly clock: Clock;
  readonly log: Log;
}

export interface SuperviseOptions {
  /** Opens a worker; `resources` own its parts. */
  readonly open: (resources: Resources) => WorkerProgress;
  readonly onStall: OnStall;
}

/** The time to close a worker, beyond the grace of its running jobs. */
const CLOSING_MS = 5000;

/** Opens a worker and handles a stall (WORKER_STANDSTILL_MS). Throws what `open` throws. */
export function superviseWorker(tools: SuperviseTools, options: SuperviseOptions): SupervisedWorker {
  const { queues, backlogOf, canWork, limitMs, stopGraceMs, resources, clock, log } = tools;
  let isStopping = false;
  let parts = createResources(log);
  resources.add('worker', null, () => parts.closeAll());
  let progress = options.open(parts);

  const rebuild = async () => {
    const closed = await within(stopGraceMs + CLOSING_MS, parts.closeAll());
    if (isStopping) return;
    parts = createResources(log);
    progress = options.open(parts);
    log.warn('worker.rebuilt', { closed: closed !== null });
  };
  const watch = watchForStall({
    progress: () => progress,
    queues,
    oldestAgeMs: async (queue) => (await backlogOf(queue)).oldestAgeMs,
    canWork,
    limitMs,
    clock,
    async onStall({ part, ms }) {
      if (isStopping) return;
      log.error('worker.stood_still', { part, standstill_ms: Math.round(ms) });
      if (options.onStall !== 'rebuild') return options.onStall();
      await rebuild().catch((error: unknown) => log.error('worker.rebuild_failed', errorFacts(error)));
    },
  });
  resources.add('stall watch', watch, (opened) => {
    isStopping = true;
    return opened.stop();
  });
  /** Kept here because the progress of a rebuilt worker starts empty. */
  const lastTook = new Map<QueueName, number>();
  const isStalled = (part: WorkerPart) => watch.stall()?.part === part || progress.stalledMs(part) >= limitMs;
  return {
    stall: () => watch.stall(),
    queues: () =>
      QUEUE_NAMES.map((name) => {
        const tookMs = progress.lastRunBeganMs(name);
        if (tookMs !== null) lastTook.set(name, tookMs);
        const isQueueStalled = isStalled(name) || isStalled(`scheduler of ${name}`);
        return { name, lastTookMs: lastTook.get(name) ?? null, isStalled: isQueueStalled };
      }),
  };
}

/** The readiness check of a worker: it fails while the worker is stalled. */
export function workerCheck(worker: SupervisedWorker): ReadinessCheck {
  return () => {
    const stall = worker.stall();
    return Promise.resolve({
      ready: stall === null,
      details: stall
        ? { worker: 'standing_still', standing_part: stall.part, standstill_ms: Math.round(stall.ms) }
        : { worker: 'progressing' },
    });
  };
}
