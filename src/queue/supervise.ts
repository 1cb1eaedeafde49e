import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { ReadinessCheck } from '../platform/http';
import type { Log } from '../platform/log/log';
import { createResources, type Resources } from '../platform/resources';
import { repeat, within } from '../platform/timers';
import type { BacklogReader } from './queues';
import type { Queues } from './queues';

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
  readonly open: (resources: Resources, progress: WorkerProgress) => void;
  /** Whether a stalled worker is opened once more first, for a process that has other parts. */
  readonly rebuildsOnce: boolean;
  /** Called when the worker is stalled and was rebuilt, if it may be; ends the process. */
  readonly onStall: () => void;
}

/** The time to close a worker, beyond the grace of its running jobs. */
const CLOSING_MS = 5000;
const CHECKS_PER_LIMIT = 5;

/**
 * Opens a worker and checks whether work waits in Redis while it makes no progress (WORKER_STALLED_MS). A BullMQ worker
 * can stop silently after a reconnect or a failover, and its process looks healthy for days. Throws what `open` throws.
 */
export function superviseWorker(tools: SuperviseTools, options: SuperviseOptions): SupervisedWorker {
  const { limitMs, stopGraceMs, resources, clock, log } = tools;
  const intervalMs = limitMs / CHECKS_PER_LIMIT;
  const progress = createWorkerProgress(clock);
  let parts = createResources(log);
  resources.add('worker', null, () => parts.closeAll());
  options.open(parts, progress);

  const rebuild = async (signal: AbortSignal) => {
    const closed = await within(stopGraceMs + CLOSING_MS, parts.closeAll());
    if (signal.aborted) return;
    parts = createResources(log);
    options.open(parts, progress);
    log.warn('worker.rebuilt', { closed: closed !== null });
  };
  const stall = () => {
    const longest = progress.longestStall();
    return longest && longest.ms >= limitMs ? longest : null;
  };

  let checkedAtMs = clock.monotonicMs();
  const check = async () => {
    const waiting = await within(limitMs / 2, partsWithWaitingWork(tools, intervalMs));
    const nowMs = clock.monotonicMs();
    // A process that was frozen made no checks and no progress: it gets the whole limit again.
    if (nowMs - checkedAtMs > limitMs / 2) progress.checked(NONE);
    checkedAtMs = nowMs;
    progress.checked(waiting?.value ?? NONE);
  };
  /** When the next step is due. The first one waits for the next check, so that a readiness probe can see the stall. */
  let actsAtMs: number | null = null;
  let wasRebuilt = false;
  const act = async (signal: AbortSignal) => {
    const found = stall();
    if (found === null) {
      actsAtMs = null;
    } else if (actsAtMs === null) {
      actsAtMs = checkedAtMs;
    } else if (checkedAtMs >= actsAtMs && !signal.aborted) {
      log.error('worker.stalled', { part: found.part, stalled_ms: Math.round(found.ms) });
      if (!options.rebuildsOnce || wasRebuilt) return options.onStall();
      wasRebuilt = true;
      await rebuild(signal);
      // The rebuilding may have taken longer than checks may be apart.
      checkedAtMs = clock.monotonicMs();
      actsAtMs = checkedAtMs + limitMs;
    }
  };
  const watch = repeat({
    name: 'stall_watch',
    everyMs: intervalMs,
    firstAfterMs: intervalMs,
    async work(signal) {
      await check();
      await act(signal);
    },
    log,
  });
  resources.add('stall watch', watch, (opened) => opened.stop());
  const isStalled = (part: WorkerPart) => progress.stalledMs(part) >= limitMs;
  return {
    stall,
    queues: () =>
      QUEUE_NAMES.map((name) => ({
        name,
        lastTookMs: progress.lastRunBeganMs(name),
        isStalled: isStalled(name) || isStalled(`scheduler of ${name}`),
      })),
  };
}

const NONE: ReadonlySet<WorkerPart> = new Set();

/** The parts with work that has waited for `waitedMs`; none when Redis takes no writes. */
async function partsWithWaitingWork(tools: SuperviseTools, waitedMs: number): Promise<ReadonlySet<WorkerPart>> {
  if (!(await tools.canWork())) return NONE;
  // A queue that cannot be read although Redis works counts as waiting: no worker can work on it either.
  const haveWaited = await Promise.all(QUEUE_NAMES.map((queue) => hasWaited(queue, waitedMs, tools).catch(() => true)));
  const waiting = QUEUE_NAMES.filter((_, index) => haveWaited[index]);
  // A scheduler polls even when nothing is due, so it must always complete runs.
  return new Set([...waiting, ...QUEUE_NAMES.map((queue) => `scheduler of ${queue}` as const)]);
}

/** The work of a paused queue is meant to wait and does not count. */
async function hasWaited(queue: QueueName, waitedMs: number, { queues, backlogOf }: SuperviseTools): Promise<boolean> {
  const { oldestAgeMs } = await backlogOf(queue);
  return oldestAgeMs >= waitedMs && !(await queues.byName[queue].isPaused());
}

/** The readiness check of a worker: it fails while the worker is stalled. */
export function workerCheck(worker: SupervisedWorker): ReadinessCheck {
  return () => {
    const stall = worker.stall();
    return Promise.resolve({
      ready: stall === null,
      details: stall
        ? { worker: 'stalled', stalled_part: stall.part, stalled_ms: Math.round(stall.ms) }
        : { worker: 'progressing' },
    });
  };
}

/** A part of a worker that can stall by itself: the runs of a queue, or the scheduler of that queue. */
export type WorkerPart = QueueName | `scheduler of ${QueueName}`;

export interface Stall {
  readonly part: WorkerPart;
  /** From the first to the last check that saw waiting work, without progress of the part in between, ms. */
  readonly ms: number;
}

/**
 * What a worker gets done, and whether work waited meanwhile. A part makes progress when a run of it ends, or when the
 * lease of a call that may last long, an upload, is renewed. Which process queued the work does not matter.
 */
export interface WorkerProgress {
  runBegan(queue: QueueName): void;
  progressed(part: WorkerPart): void;
  /** When the last run of this queue began, by the monotonic clock, ms; null before the first one. */
  lastRunBeganMs(queue: QueueName): number | null;
  /** Records which parts have waiting work. */
  checked(waiting: ReadonlySet<WorkerPart>): void;
  stalledMs(part: WorkerPart): number;
  /** The part that is stalled longest; null when no part has waiting work. */
  longestStall(): Stall | null;
}

export function createWorkerProgress(clock: Clock): WorkerProgress {
  const stalledSince = new Map<WorkerPart, number>();
  const began = new Map<QueueName, number>();
  let checkedAtMs = clock.monotonicMs();
  const stalledMs = (part: WorkerPart) => checkedAtMs - (stalledSince.get(part) ?? checkedAtMs);
  return {
    runBegan: (queue) => void began.set(queue, clock.monotonicMs()),
    progressed: (part) => void stalledSince.delete(part),
    lastRunBeganMs: (queue) => began.get(queue) ?? null,
    checked(waiting) {
      checkedAtMs = clock.monotonicMs();
      for (const part of stalledSince.keys()) if (!waiting.has(part)) stalledSince.delete(part);
      for (const part of waiting) if (!stalledSince.has(part)) stalledSince.set(part, checkedAtMs);
    },
    stalledMs,
    longestStall() {
      const stalls = [...stalledSince.keys()].map((part) => ({ part, ms: stalledMs(part) }));
      return stalls.toSorted((a, b) => b.ms - a.ms)[0] ?? null;
    },
  };
}
