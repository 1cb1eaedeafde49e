import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log';
import type { QueueName, Queues, WakeUp } from './queues';

export interface DirectJobsTools {
  readonly queues: Pick<Queues, 'waiting' | 'wake'>;
  /** Whether there is a worker. Without one, jobs would only wait. */
  readonly hasWorker: () => Promise<boolean>;
  readonly log: Log;
}

/**
 * Adds jobs for single changes without a scheduler, which saves the round trips of a poll, while workers take jobs at
 * once. Such a job may be lost, or come before its change: the record stays due, and a scheduler adds another one
 * within its interval. While jobs wait, schedulers add all: they bound their number and join several tows in a job.
 */
export function createDirectJobs({ queues, hasWorker, log }: DirectJobsTools): {
  /** Returns a function that adds a job for the record; null if a scheduler should do it. Neither ever throws. */
  prepare(wakeUp: WakeUp): (() => void) | null;
} {
  /** Queues whose jobs were taken at once, by the last count. */
  const open = new Set<QueueName>();
  const counting = new Set<QueueName>();
  const failed = (queue: QueueName, error: unknown) => log.debug('wake.failed', { queue, ...errorFacts(error) });
  const count = async (queue: QueueName) => {
    if (counting.has(queue)) return;
    counting.add(queue);
    try {
      const [waiting, isTaken] = await Promise.all([queues.waiting(queue), hasWorker()]);
      if (waiting === 0 && isTaken) open.add(queue);
      else open.delete(queue);
    } catch (error) {
      open.delete(queue);
      failed(queue, error);
    }
    counting.delete(queue);
  };
  return {
    prepare(wakeUp) {
      const { queue } = wakeUp;
      if (!open.has(queue)) {
        void count(queue);
        return null;
      }
      return () => {
        // Sent before the job, so that it counts those that no worker has taken yet.
        void count(queue);
        queues.wake([wakeUp]).catch((error: unknown) => failed(queue, error));
      };
    },
  };
}
