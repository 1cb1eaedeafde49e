import type { QueueName } from '../domain/vocabulary';
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
