import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import { pause, within } from '../platform/timers';
import type { Stall, WorkerPart, WorkerProgress } from './progress';
import type { Queues } from './queues';

export interface StallWatchOptions {
  /** The progress of the current worker. It changes when the worker is rebuilt. */
  readonly progress: () => WorkerProgress;
  readonly queues: Queues;
  /** How long the oldest work of a queue has been due or waiting for a worker, ms. */
  readonly oldestAgeMs: (queue: QueueName) => Promise<number>;
  /** Whether Redis takes writes. While it does not, waiting work is no sign of a stall. */
  readonly canWork: () => Promise<boolean>;
  readonly limitMs: number;
  readonly clock: Clock;
  /**
   * Called at the check after `stall()` first returned the stall, so that a readiness probe can see it first. Called
   * again when the worker was rebuilt and stalls for the whole limit again.
   */
  readonly onStall: (stall: Stall) => Promise<void>;
}

export interface StallWatch {
  /** The stall that has exceeded the limit, until its part makes progress; else null. */
  stall(): Stall | null;
  /** Waits for the running check and its consequences. */
  stop(): Promise<void>;
}

const CHECK_INTERVAL_MAX_MS = 5000;
const CHECKS_PER_LIMIT = 5;

/**
 * Checks in Redis whether work waits while this worker makes no progress. A BullMQ worker can stop silently after a
 * reconnect or a failover, and its process looks healthy for days.
 */
export function watchForStall(options: StallWatchOptions): StallWatch {
  const { clock, limitMs, progress } = options;
  const intervalMs = Math.min(limitMs / CHECKS_PER_LIMIT, CHECK_INTERVAL_MAX_MS);
  const ending = new AbortController();
  const { signal } = ending;
  let stall: Stall | null = null;
  let checkedAtMs = clock.monotonicMs();

  const check = async () => {
    const waiting = (await within(limitMs / 2, partsWithWaitingWork(options, intervalMs)))?.value ?? null;
    const nowMs = clock.monotonicMs();
    // A process that was frozen made no checks and no progress: it gets the whole limit again.
    if (!waiting || nowMs - checkedAtMs > limitMs / 2) progress().forgetChecks();
    checkedAtMs = nowMs;
    for (const [part, hasWaitingWork] of waiting ?? []) progress().observed(part, hasWaitingWork);
  };
  const report = async () => {
    const longest = progress().longestStall();
    const wasKnown = stall !== null;
    if (longest && longest.ms >= limitMs) {
      stall = longest;
      if (wasKnown) await options.onStall(longest);
    } else if (stall && progress().hasProgressed(stall.part)) {
      stall = null;
    }
  };
  const run = async () => {
    while (!signal.aborted) {
      await pause(intervalMs, signal);
      if (signal.aborted) return;
      await check();
      await report();
    }
  };
  const running = run();
  return {
    stall: () => stall,
    async stop() {
      ending.abort();
      await running;
    },
  };
}

/** Which parts have work that has waited for `waitedMs`; null when Redis takes no writes. */
async function partsWithWaitingWork(
  options: StallWatchOptions,
  waitedMs: number,
): Promise<ReadonlyMap<WorkerPart, boolean> | null> {
  if (!(await options.canWork())) return null;
  const waiting = new Map<WorkerPart, boolean>();
  await Promise.all(
    QUEUE_NAMES.map(async (queue) => {
      // A queue that cannot be read although Redis works counts as waiting: no worker can work on it either.
      waiting.set(queue, await hasWaited(queue, waitedMs, options).catch(() => true));
      // A scheduler polls even when nothing is due, so it must always complete runs.
      waiting.set(`scheduler of ${queue}`, true);
    }),
  );
  return waiting;
}

/** The work of a paused queue is meant to wait and does not count. */
async function hasWaited(
  queue: QueueName,
  waitedMs: number,
  { queues, oldestAgeMs }: StallWatchOptions,
): Promise<boolean> {
  const [isPaused, ageMs] = await Promise.all([queues.byName[queue].isPaused(), oldestAgeMs(queue)]);
  return !isPaused && ageMs >= waitedMs;
}
