import { errorFacts } from '../platform/log';
import { createResources, type Resources } from '../platform/resources';
import { within } from '../platform/within';
import type { Part, Progress, Standstill } from '../queue/progress';
import { QUEUE_NAMES, type QueueName } from '../queue/queues';
import { watchForStandstill } from '../queue/standstill';
import { writability } from '../store/connect';
import type { Foundation } from './foundation';

/** What happens to a worker that stands still: it is built anew, or whoever is told ends the process. */
export type OnStandstill = 'rebuild' | (() => void);

export interface SupervisedWorker {
  /** Of each queue how it goes, as of now. */
  queues(): readonly SupervisedQueue[];
  /** The standstill that has passed WORKER_STANDSTILL_MS, until progress is seen again; else null. */
  standstill(): Standstill | null;
}

export interface SupervisedQueue {
  readonly name: QueueName;
  /** When the worker last began a piece of work of it, by the monotonic clock, ms; null when it has not yet. */
  readonly lastTookMs: number | null;
  readonly standsStill: boolean;
}

export interface SuperviseOptions {
  /** Opens a worker whose parts belong to the resources. */
  readonly open: (resources: Resources) => Progress;
  readonly onStandstill: OnStandstill;
}

/** What taking a worker down takes beyond the grace of its running jobs. */
const CLOSING_MS = 5000;

/** Opens a worker and sees to it that it makes progress (WORKER_STANDSTILL_MS). Throws what opening it throws. */
export function superviseWorker(foundation: Foundation, options: SuperviseOptions): SupervisedWorker {
  const { config, clock, log, redis, queues, backlogOf } = foundation;
  let isStopping = false;
  let parts = createResources(log);
  foundation.resources.add('worker', null, () => parts.closeAll());
  let progress = options.open(parts);

  const rebuild = async () => {
    const closed = await within(config.stopGraceMs + CLOSING_MS, parts.closeAll());
    if (isStopping) return;
    parts = createResources(log);
    progress = options.open(parts);
    log.warn('worker.rebuilt', { closed: closed !== null });
  };
  const watch = watchForStandstill({
    progress: () => progress,
    queues,
    oldestAgeMs: async (queue) => (await backlogOf(queue)).oldestAgeMs,
    canWork: async () => (await writability(redis)) === 'writable',
    limitMs: config.workerStandstillMs,
    clock,
    async onStandstill({ part, ms }) {
      if (isStopping) return;
      log.error('worker.stood_still', { part, standstill_ms: Math.round(ms) });
      if (options.onStandstill !== 'rebuild') return options.onStandstill();
      await rebuild().catch((error: unknown) => log.error('worker.rebuild_failed', errorFacts(error)));
    },
  });
  foundation.resources.add('standstill watch', watch, (opened) => {
    isStopping = true;
    return opened.stop();
  });
  /** Survives a worker that is built anew. */
  const lastTook = new Map<QueueName, number>();
  const stands = (part: Part) =>
    watch.standstill()?.part === part || progress.standingMs(part) >= config.workerStandstillMs;
  return {
    standstill: () => watch.standstill(),
    queues: () =>
      QUEUE_NAMES.map((name) => {
        const tookMs = progress.lastTookMs(name);
        if (tookMs !== null) lastTook.set(name, tookMs);
        const standsStill = stands(name) || stands(`pump of ${name}`);
        return { name, lastTookMs: lastTook.get(name) ?? null, standsStill };
      }),
  };
}

/** Whether the worker makes progress, for `/readyz`. */
export function workerHealth(worker: SupervisedWorker) {
  const standstill = worker.standstill();
  return Promise.resolve({
    ready: standstill === null,
    details: standstill
      ? { worker: 'standing_still', standing_part: standstill.part, standstill_ms: Math.round(standstill.ms) }
      : { worker: 'progressing' },
  });
}
