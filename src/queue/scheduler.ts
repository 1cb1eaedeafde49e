import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import { systemClock } from '../platform/clock';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log';
import { pause, within } from '../platform/timers';
import type { WorkerProgress } from './progress';
import type { Queues } from './queues';

/** The schedule of one queue, as the scheduler needs it. */
export interface DueWork {
  /** Returns up to `limit` due members and makes them due again after `visibilityTimeoutMs`. */
  pollDue(limit: number, visibilityTimeoutMs: number): Promise<readonly string[]>;
}

export interface SchedulerOptions {
  readonly queues: Queues;
  readonly schedules: Readonly<Record<QueueName, DueWork>>;
  readonly intervalMs: number;
  readonly progress: WorkerProgress;
  /** Throttled: every run fails while Redis is away. */
  readonly log: Log;
}

/** Members polled by one run, at most. */
const BATCH_MAX = 500;
/** With less room in the queue, the scheduler pauses to let the workers catch up. */
const ROOM_MIN = 100;
const CROWDED_PAUSE_MS = 20;
/**
 * Above this rate nudges are a rush, such as a burst of webhooks. Accepting webhooks has priority over processing them:
 * a run then polls a small batch, and the next run starts after a pause.
 */
const RUSH_NUDGES_PER_MS = 0.5;
const RUSH_WINDOW_MS = 100;
const RUSH_BATCH_MAX = 100;
const RUSH_PAUSE_MS = 200;
/** A polled member is due again after this, unless a worker settles it or a claim reschedules it. */
const VISIBILITY_TIMEOUT_MS = 10_000;
/** How long `stop` waits for a run that hangs. */
const STOP_MS = 1000;

export interface Scheduler {
  /** Starts the next run of this queue at once: something has become due. */
  nudge(queue: QueueName): void;
  /** False while the queue is paused or has a backlog, as the last run found it. */
  hasRoom(queue: QueueName): boolean;
  /** Waits up to 1 s for the current runs. None starts afterwards. */
  stop(): Promise<void>;
}

/**
 * Moves due work into the queues until it is stopped. A lost job is harmless: its records become due again after
 * VISIBILITY_TIMEOUT_MS.
 */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const ending = new AbortController();
  const { signal } = ending;
  const waits = new Map<QueueName, NudgedWait>();
  /** Queues with room for all that was due. */
  const roomy = new Set<QueueName>();
  /** One loop per queue, so that a run that hangs delays only its own queue. */
  const loop = async (queue: QueueName) => {
    const batch: PolledBatch = { queue, refs: [] };
    const wait: NudgedWait = { nudges: 0, handledNudges: 0, wake: () => {} };
    waits.set(queue, wait);
    const isRush = rushDetector(wait);
    while (!signal.aborted) {
      const hasRush = isRush();
      const result = await run(batch, options, hasRush ? RUSH_BATCH_MAX : BATCH_MAX);
      if (result === 'idle') roomy.add(queue);
      else roomy.delete(queue);
      // After a full batch more work is due: the next run follows without a pause.
      if (hasRush) await pause(Math.min(RUSH_PAUSE_MS, options.intervalMs), signal);
      else if (result === 'crowded') await untilNudged(wait, Math.min(CROWDED_PAUSE_MS, options.intervalMs), signal);
      else if (result !== 'full') await untilNudged(wait, options.intervalMs, signal);
    }
  };
  const running = Promise.all(QUEUE_NAMES.map(loop));
  return {
    nudge(queue) {
      const wait = waits.get(queue);
      if (!wait) return;
      wait.nudges += 1;
      wait.wake();
    },
    hasRoom: (queue) => roomy.has(queue),
    async stop() {
      ending.abort();
      for (const { wake } of waits.values()) wake();
      await within(STOP_MS, running);
    },
  };
}

/** Members that were polled and are not in BullMQ yet. */
interface PolledBatch {
  readonly queue: QueueName;
  refs: readonly string[];
}

/** `full`: more may be due. `crowded`: the queue has little room. `failed`: Redis did not answer. */
type RunResult = 'full' | 'crowded' | 'idle' | 'paused' | 'failed';

async function run(batch: PolledBatch, options: SchedulerOptions, max: number): Promise<RunResult> {
  const { queue } = batch;
  try {
    const result = await queueDue(batch, options, max);
    options.progress.runEnded(`scheduler of ${queue}`);
    return result;
  } catch (error) {
    options.log.warn('pump.failed', { queue, ...errorFacts(error), stack: undefined });
    return 'failed';
  }
}

/**
 * Polls a batch and adds its jobs. A batch that could not be added stays for the next run: its members were
 * rescheduled, so that polling would not return them soon.
 */
async function queueDue(batch: PolledBatch, options: SchedulerOptions, max: number): Promise<RunResult> {
  const { queue } = batch;
  const room = await roomIn(queue, options);
  const limit = Math.min(max, room ?? 0);
  if (batch.refs.length === 0 && (limit > 0 || room === null)) {
    // A paused queue is polled for nothing: a poll also makes due what closed circuits have blocked.
    batch.refs = await options.schedules[queue].pollDue(limit, VISIBILITY_TIMEOUT_MS);
  }
  if (room === null) return 'paused';
  const isFull = batch.refs.length === limit;
  await addJobs(batch, options, { isBacklog: isFull });
  if (limit < ROOM_MIN) return 'crowded';
  return isFull ? 'full' : 'idle';
}

async function addJobs(
  batch: PolledBatch,
  { queues }: SchedulerOptions,
  options: { isBacklog: boolean },
): Promise<void> {
  const { queue, refs } = batch;
  if (refs.length > 0) await queues.wake(queue, refs, options);
  batch.refs = [];
}

/** The room in a queue; null while it is paused. One that cannot be asked takes a batch. */
function roomIn(queue: QueueName, { queues, log }: SchedulerOptions): Promise<number | null> {
  return queues.room(queue).catch((error: unknown) => {
    log.warn('pump.uncounted', { queue, ...errorFacts(error), stack: undefined });
    return BATCH_MAX;
  });
}

/** The wait between two runs, which a nudge ends. */
interface NudgedWait {
  /** Nudges since the start, and how many of them a run has followed. */
  nudges: number;
  handledNudges: number;
  wake: () => void;
}

/** Waits for `waitMs` or until a nudge. A nudge that came during the last run counts. */
async function untilNudged(wait: NudgedWait, waitMs: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (wait.nudges === wait.handledNudges) {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      wait.wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    wait.wake = () => {};
  }
  wait.handledNudges = wait.nudges;
}

/** Returns a function that tells whether nudges come in a rush, measured over windows of RUSH_WINDOW_MS. */
function rushDetector(wait: NudgedWait): () => boolean {
  let window = { beganMs: systemClock.monotonicMs(), nudges: 0 };
  let isRush = false;
  return () => {
    const nowMs = systemClock.monotonicMs();
    if (nowMs - window.beganMs < RUSH_WINDOW_MS) return isRush;
    isRush = (wait.nudges - window.nudges) / (nowMs - window.beganMs) > RUSH_NUDGES_PER_MS;
    window = { beganMs: nowMs, nudges: wait.nudges };
    return isRush;
  };
}
