import type { Foundation } from '../../src/main/foundation';
import { silentLog } from '../../src/platform/log/log';
import { createResources } from '../../src/platform/resources';
import { createWorkerProgress } from '../../src/queue/supervise';
import { startScheduler } from '../../src/queue/scheduler';
import { startWorkers, type JobHandler } from '../../src/queue/workers';
import { PARTITION, runKey } from '../../src/store/keys';
import { waitsUntilDue } from '../../src/store/outbox/schedules';

const SCHEDULER_INTERVAL_MS = 20;
const STOP_GRACE_MS = 200;
/** Short, so that tests of lost workers do not wait; in production 10 s. */
export const LOST_AFTER_MS = 200;

/** Starts a worker of the queue `runs`, with its scheduler. A job that has not ended in `lostAfterMs` is added again. */
export function startRunWorker(
  foundation: Foundation,
  handler: JobHandler,
  lostAfterMs = LOST_AFTER_MS,
): { stop(): Promise<void> } {
  const { queues, schedules, clock } = foundation;
  const resources = createResources(silentLog);
  const progress = createWorkerProgress(clock);
  const nothing = () => Promise.resolve({ kind: 'done', what: 'left alone' } as const);
  const workers = startWorkers({
    queues,
    handlers: { deliveries: nothing, reports: nothing, violations: nothing, runs: handler, subscriptions: nothing },
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: 4,
    lockMs: 20_000,
    stopGraceMs: STOP_GRACE_MS,
    progress,
    log: silentLog,
  });
  const none = { pollDue: () => Promise.resolve([]) };
  const runs = { pollDue: (limit: number) => schedules.runs.pollDue(limit, lostAfterMs) };
  const scheduler = startScheduler({
    queues,
    schedules: { deliveries: none, reports: none, violations: none, runs, subscriptions: none },
    waitsUntilDue: () => waitsUntilDue(foundation.redis),
    intervalMs: SCHEDULER_INTERVAL_MS,
    progress,
    log: silentLog,
  });
  return {
    async stop() {
      await scheduler.stop();
      await workers.stop();
      await resources.closeAll();
    },
  };
}

/** Stores that a run was started elsewhere, and how much of it was done. No worker continues it. */
export async function startElsewhere({ redis }: Pick<Foundation, 'redis'>, id: string, done = 0): Promise<void> {
  await redis.hset(runKey(id), { state: 'running', started_at: Date.now(), done });
}
