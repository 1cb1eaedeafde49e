import type { Redis } from 'ioredis';
import type { Outcome } from '../../jobs/outcome';
import { bulkJob, deliveryJob, reportJob, violationJob } from '../../src/contracts/jobs';
import { systemClock } from '../../src/platform/clock';
import { silentLog, type Log } from '../../src/platform/log';
import { createProgress, type Progress } from '../../src/queue/progress';
import { createQueues, type Queues } from '../../src/queue/queues';
import { startWorkers, type Workers } from '../../src/queue/workers';
import { connectFailFast, connectPatient, whenReady } from '../../src/store/connect';
import { PARTITION } from '../../src/store/keys';

export const STOP_GRACE_MS = 500;
export const done = (what: string): Promise<Outcome> => Promise.resolve({ kind: 'done', what });

/** Handles a job: gets the id of its record. */
export type Work = (ref: string) => Promise<Outcome>;

/** Queues in a Redis and workers for them. */
export interface World {
  readonly redis: Redis;
  readonly queues: Queues;
  /** Starts workers of all queues that handle every job with `work`. `close` stops them. */
  start(work: Work, also?: { progress?: Progress; log?: Log }): Workers;
  close(): Promise<void>;
}

export async function openWorld(url: string): Promise<World> {
  const tools = { log: silentLog, clock: systemClock };
  const redis = connectFailFast(url, tools);
  const patient = connectPatient(url, tools);
  await Promise.all([redis, patient].map((connection) => whenReady(connection, 5000)));
  const queues = createQueues({ connection: redis, prefix: PARTITION, ...tools });
  const started: Workers[] = [];
  return {
    redis,
    queues,
    start(work, { progress = createProgress(systemClock), log = silentLog } = {}) {
      const workers = startWorkers({
        queues,
        handlers: {
          deliveries: async (payload) => work(deliveryJob.parse(payload).delivery_ids.join()),
          reports: async (payload) => work(reportJob.parse(payload).towing_reference_id),
          violations: async (payload) => work(violationJob.parse(payload).violation_id),
          bulk: async (payload) => work(bulkJob.parse(payload).bulk_id),
        },
        connection: patient,
        prefix: PARTITION,
        concurrency: 4,
        lockMs: 20_000,
        stopGraceMs: STOP_GRACE_MS,
        progress,
        log,
      });
      started.push(workers);
      return workers;
    },
    async close() {
      await Promise.all(started.map((workers) => workers.stop()));
      for (const connection of [redis, patient]) connection.disconnect();
      await queues.close();
    },
  };
}
