import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { pause, within } from '../platform/timers';
import type { WorkerProgress } from './supervise';
import { RECORDS_PER_JOB, type Queues } from './queues';

/** The schedule of one queue, as the scheduler needs it. */
export interface DueWork {
  /** Returns up to `limit` due members and makes them due again after `visibilityTimeoutMs`. */
  pollDue(limit: number, visibilityTimeoutMs: number): Promise<readonly string[]>;
}

export interface SchedulerOptions {
  readonly queues: Queues;
  readonly schedules: Readonly<Record<QueueName, DueWork>>;
  /** How long it is until a poll of each queue has something to do, ms. */
  readonly waitsUntilDue: () => Promise<Readonly<Record<QueueName, number>>>;
  readonly intervalMs: number;
  readonly progress: WorkerProgress;
  /** Throttled: every run fails while Redis is away. */
  readonly log: Log;
}

/** Members polled by one run, at most. */
const BATCH_MAX = 500;
/** With less room in the queue, the scheduler lets the workers catch up. */
const ROOM_MIN = 100;
const CROWDED_PAUSE_MS = 20;
/** A polled member is due again after this, unless a worker settles it or a claim reschedules it. */
const VISIBILITY_TIMEOUT_MS = 10_000;
/**
 * How many intervals the next look is away while nothing is due for longer. A job that gets lost is not missed: its
 * record is put off by VISIBILITY_TIMEOUT_MS, so that a look before shows when it is due.
 */
const QUIET_INTERVALS = 4;
/** How long `stop` waits for a run that hangs. */
const STOP_MS = 1000;

export interface Scheduler {
  /** Waits up to 1 s for the current runs. None starts afterwards. */
  stop(): Promise<void>;
}

/**
 * Moves work into the queues that becomes due by time, or whose job was lost, until it is stopped. What a commit makes due
 * has got its job with the commit.
 */
export function startScheduler(options: SchedulerOptions): Scheduler {
  const ending = new AbortController();
  const { signal } = ending;
  const startedMs = performance.now();
  // The runs of all loops fall together, so that one reading serves them.
  const untilNextRun = (intervalMs: number) => intervalMs - ((performance.now() - startedMs) % intervalMs);
  const waits = sharedReading(options.waitsUntilDue, options.intervalMs / 2);
  /** One loop per queue, so that a run that hangs delays only its own queue. */
  const loop = async (queue: QueueName) => {
    const batch: PolledBatch = { queue, refs: [] };
    while (!signal.aborted) {
      const result = await run(batch, { ...options, waitsUntilDue: waits });
      // After a full batch more work is due: the next run follows without a pause.
      if (result === 'full') continue;
      if (result === 'crowded') await pause(Math.min(CROWDED_PAUSE_MS, options.intervalMs), signal);
      else
        await pause(
          untilNextRun(result === 'nothing_due' ? QUIET_INTERVALS * options.intervalMs : options.intervalMs),
          signal,
        );
    }
  };
  const running = Promise.all(QUEUE_NAMES.map(loop));
  return {
    async stop() {
      ending.abort();
      await within(STOP_MS, running);
    },
  };
}

/** A reading serves all who ask within `maxAgeMs` of its beginning. */
function sharedReading<T>(read: () => Promise<T>, maxAgeMs: number): () => Promise<T> {
  let last: { readonly reading: Promise<T>; readonly atMs: number } | null = null;
  return () => {
    const atMs = performance.now();
    if (last === null || atMs - last.atMs > maxAgeMs) last = { reading: read(), atMs };
    return last.reading;
  };
}

/** Members that were polled and are not in BullMQ yet. */
interface PolledBatch {
  readonly queue: QueueName;
  refs: readonly string[];
}

/** `full`: more may be due. `crowded`: the queue has little room. `failed`: Redis did not answer. */
type PollResult = 'full' | 'crowded' | 'idle' | 'nothing_due' | 'paused' | 'failed';

async function run(batch: PolledBatch, options: SchedulerOptions): Promise<PollResult> {
  const { queue } = batch;
  try {
    const result = await queueDue(batch, options);
    options.progress.progressed(`scheduler of ${queue}`);
    return result;
  } catch (error) {
    options.log.warn('scheduler.failed', { queue, ...errorFacts(error), stack: undefined });
    return 'failed';
  }
}

/**
 * Polls a batch and adds its jobs. A batch that could not be added stays for the next run: its members were
 * rescheduled, so that polling would not return them soon.
 */
async function queueDue(batch: PolledBatch, options: SchedulerOptions): Promise<PollResult> {
  const { queue } = batch;
  const waitMs = batch.refs.length > 0 ? 0 : (await options.waitsUntilDue())[queue];
  if (waitMs > 0) return waitMs > QUIET_INTERVALS * options.intervalMs ? 'nothing_due' : 'idle';
  const room = await roomIn(queue, options);
  const limit = Math.min(BATCH_MAX, room ?? 0);
  if (batch.refs.length === 0 && (limit > 0 || room === null)) {
    // A paused queue is polled for nothing: a poll also makes due what closed circuits have blocked.
    batch.refs = await options.schedules[queue].pollDue(limit, VISIBILITY_TIMEOUT_MS);
  }
  if (room === null) return 'paused';
  const isFull = batch.refs.length === limit;
  const { refs } = batch;
  if (refs.length > 0) {
    const perJob = queue === 'deliveries' || isFull ? RECORDS_PER_JOB[queue] : 1;
    await options.queues.add(queue, refs, perJob);
  }
  batch.refs = [];
  if (limit < ROOM_MIN) return 'crowded';
  return isFull ? 'full' : 'idle';
}

/** The room in a queue; null while it is paused. One that cannot be asked takes a batch. */
function roomIn(queue: QueueName, { queues, log }: SchedulerOptions): Promise<number | null> {
  return queues.room(queue).catch((error: unknown) => {
    log.warn('scheduler.uncounted', { queue, ...errorFacts(error), stack: undefined });
    return BATCH_MAX;
  });
}
