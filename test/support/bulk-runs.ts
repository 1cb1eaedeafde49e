import type { BulkHead } from '../../src/contracts/bulk';
import type { Foundation } from '../../src/main/foundation';
import { silentLog } from '../../src/platform/log';
import { createResources } from '../../src/platform/resources';
import { createProgress } from '../../src/queue/progress';
import { startPump } from '../../src/queue/pump';
import { startWorkers, type Handler } from '../../src/queue/workers';
import { createBulkStore } from '../../src/store/bulk';
import { PARTITION } from '../../src/store/keys';

const PUMP_INTERVAL_MS = 20;
const STOP_GRACE_MS = 200;

/** Starts a worker of the queue `bulk`, with its part of the scheduler. */
export function startBulkWorker(foundation: Foundation, handler: Handler): { stop(): Promise<void> } {
  const { queues, due, clock } = foundation;
  const resources = createResources(silentLog);
  const progress = createProgress(clock);
  const nothing = () => Promise.resolve({ kind: 'done', what: 'left alone' } as const);
  const workers = startWorkers({
    queues,
    handlers: { deliveries: nothing, reports: nothing, violations: nothing, bulk: handler },
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: 4,
    lockMs: 20_000,
    stopGraceMs: STOP_GRACE_MS,
    progress,
    log: silentLog,
  });
  const none = { take: () => Promise.resolve([]) };
  const pump = startPump({
    queues,
    due: { deliveries: none, reports: none, violations: none, bulk: due.bulk },
    intervalMs: PUMP_INTERVAL_MS,
    progress,
    log: silentLog,
  });
  return {
    async stop() {
      await pump.stop();
      await workers.stop();
      await resources.closeAll();
    },
  };
}

/** Stores what a worker elsewhere made of a run. No worker looks at the run again within a minute. */
export async function setBulkHead(
  { redis, clock }: Pick<Foundation, 'redis' | 'clock'>,
  id: string,
  changed: Partial<BulkHead>,
): Promise<void> {
  await createBulkStore(redis, clock).change(id, ({ head, nowMs }) =>
    Promise.resolve({
      value: null,
      change: { head: { ...head, startedAtMs: nowMs, ...changed }, againInMs: 60_000 },
    }),
  );
}
