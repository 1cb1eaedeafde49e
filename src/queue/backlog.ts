import { QUEUE_NAMES, type QueueName } from '../domain/vocabulary';
import { watcher, type Metrics } from '../platform/log/metrics';
import type { OpsQueue } from '../workflow/ops/alarms';
import type { Queues } from './queues';

/** The work of a queue that no worker has taken yet. */
export interface QueueBacklog {
  readonly due: number;
  /** How long the oldest work has been due, or has waited as a job, ms. */
  readonly oldestAgeMs: number;
}

/** Reads the backlog of a queue. Rejects when Redis does. */
export type BacklogReader = (name: QueueName) => Promise<QueueBacklog>;

/** Reads backlogs from the schedules and from the waiting jobs. */
export function backlogReader(
  queues: Queues,
  schedules: Readonly<Record<QueueName, { backlog(): Promise<QueueBacklog> }>>,
): BacklogReader {
  return async (name) => {
    const [{ due, oldestAgeMs }, oldestWaitMs] = await Promise.all([
      schedules[name].backlog(),
      queues.oldestWaitMs(name),
    ]);
    // Work that the scheduler has moved into the queue is no longer due, but still waits for a worker.
    return { due, oldestAgeMs: Math.max(oldestAgeMs, oldestWaitMs) };
  };
}

/** Reads a queue as the API shows it. Rejects when Redis does. */
export async function readQueueView(queues: Queues, backlogOf: BacklogReader, name: QueueName): Promise<OpsQueue> {
  const queue = queues.byName[name];
  const [counts, failed, { due, oldestAgeMs }, paused] = await Promise.all([
    queue.getJobCounts('waiting', 'active'),
    queues.failed(name),
    backlogOf(name),
    queue.isPaused(),
  ]);
  return {
    name,
    waiting: counts['waiting'] ?? 0,
    active: counts['active'] ?? 0,
    failed,
    due,
    oldest_age_ms: oldestAgeMs,
    paused,
  };
}

/** Gauges of the backlog of each queue, of paused queues, and of failed jobs. */
export function watchQueues(metrics: Metrics, queues: Queues, backlogOf: BacklogReader): void {
  const watch = watcher(metrics, () =>
    Promise.all(
      QUEUE_NAMES.map(async (name) => {
        const [isPaused, failed] = await Promise.all([queues.byName[name].isPaused(), queues.failed(name)]);
        return { labels: { queue: name }, isPaused, failed };
      }),
    ),
  );
  watch('towhook_queue_paused', 'Whether a queue is paused: 1 = paused.', ['queue'], (states) =>
    states.map(({ labels, isPaused }) => ({ labels, value: isPaused ? 1 : 0 })),
  );
  watch(
    'towhook_failed_jobs',
    'Jobs that failed within 24 hours, by queue. A job handles failures itself, so this is a fault.',
    ['queue'],
    (states) => states.map(({ labels, failed }) => ({ labels, value: failed })),
  );
  for (const name of QUEUE_NAMES) metrics.watchBacklog(name, () => backlogOf(name));
}
