import type { Log } from '../platform/log';
import { repeat, type Repetition } from '../platform/timers';
import type { Scheduler } from './scheduler';
import type { Workers } from './workers';

export interface ImmediateRunsOptions {
  /** Waits a bounded time for tows that have just become due, and takes them. Rejects once its connection is closed. */
  readonly take: () => Promise<readonly string[]>;
  readonly workers: Pick<Workers, 'begin'>;
  readonly scheduler: Pick<Scheduler, 'hasRoom' | 'nudge'>;
  readonly log: Log;
}

const RETRY_MS = 500;

/**
 * Begins the run of each tow that a fact has just made due, without a job: adding and fetching one takes five round
 * trips. While the queue of reports has a backlog, or a worker runs as many tows as it may, the tow stays in its
 * schedule, and the scheduler adds its job.
 */
export function startImmediateRuns({ take, workers, scheduler, log }: ImmediateRunsOptions): Repetition {
  return repeat({
    name: 'immediate_runs',
    everyMs: RETRY_MS,
    log,
    async work(signal) {
      const refs = await take().catch((error: unknown) => {
        if (signal.aborted) return [];
        throw error;
      });
      const left = refs.filter(
        (ref) => !scheduler.hasRoom('reports') || !workers.begin('reports', { towing_reference_id: ref }),
      );
      if (left.length > 0) scheduler.nudge('reports');
      return 'continue';
    },
  });
}
