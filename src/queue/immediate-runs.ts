import type { QueueName } from '../domain/vocabulary';
import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/timers';
import { payloadOf } from './queues';
import type { Scheduler } from './scheduler';
import type { Workers } from './workers';

export interface ImmediateRunsOptions {
  readonly queue: QueueName;
  /** Waits a bounded time for records that have just become due, and takes them. Rejects once its connection is closed. */
  readonly take: () => Promise<readonly string[]>;
  readonly workers: Pick<Workers, 'begin'>;
  readonly scheduler: Pick<Scheduler, 'hasRoom' | 'nudge'>;
  readonly log: Log;
}

const RETRY_MS = 500;

/**
 * Begins the run of each record that has just become due. A poll and a job would take six round trips more. While its
 * queue has no room for further jobs, or a worker has as many runs as it may, the record stays in its schedule, and the
 * scheduler adds its job.
 */
export function startImmediateRuns({ queue, take, workers, scheduler, log }: ImmediateRunsOptions): Repetition {
  return repeat({
    name: `immediate_runs.${queue}`,
    everyMs: RETRY_MS,
    log,
    async work(signal) {
      const refs = await take().catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      const left = refs.filter((ref) => !scheduler.hasRoom(queue) || !workers.begin(queue, payloadOf(queue, [ref])));
      if (left.length > 0) scheduler.nudge(queue);
      return 'continue';
    },
  });
}
