import type { Redis } from 'ioredis';
import {
  deliveryJob,
  type JobOutcome,
  reportJob,
  runJob,
  subscriptionJob,
  towsOfJob,
  violationJob,
} from '../../src/contracts/ops/jobs';
import { systemClock } from '../../src/platform/clock';
import { silentLog, type Log } from '../../src/platform/log/log';
import { createWorkerProgress, type WorkerProgress } from '../../src/queue/supervise';
import { createQueues, type Queues } from '../../src/queue/queues';
import { startWorkers, type Workers } from '../../src/queue/workers';
import { connectFailFast, connectPatient, whenReady } from '../../src/store/redis/connect';
import { PARTITION } from '../../src/store/keys';
import { withoutTimeoutsIfShared } from '../support/redis';

export const STOP_GRACE_MS = 500;
export const done = (what: string): Promise<JobOutcome> => Promise.resolve({ kind: 'done', what });

/** Handles a job: gets the id of its record. */
export type Work = (ref: string) => Promise<JobOutcome>;

/** Queues in a Redis and workers for them. */
export interface World {
  readonly redis: Redis;
  readonly queues: Queues;
  /** Starts workers of all queues that handle every job with `work`. `close` stops them. */
  start(work: Work, also?: { progress?: WorkerProgress; log?: Log; endCalls?: () => void }): Workers;
  close(): Promise<void>;
}

export async function openWorld(url: string): Promise<World> {
  const tools = { log: silentLog, clock: systemClock };
  const redis = connectFailFast(url, tools);
  const patient = connectPatient(url, tools);
  await withoutTimeoutsIfShared(url, redis);
  await Promise.all([redis, patient].map((connection) => whenReady(connection, 5000)));
  const queues = createQueues({ connection: redis, prefix: PARTITION, ...tools });
  const started: Workers[] = [];
  return {
    redis,
    queues,
    start(work, { progress = createWorkerProgress(systemClock), log = silentLog, endCalls = () => {} } = {}) {
      const workers = startWorkers({
        queues,
        handlers: {
          deliveries: async (payload) => work(deliveryJob.parse(payload).delivery_ids.join()),
          reports: async (payload) => work(towsOfJob(reportJob.parse(payload)).join()),
          violations: async (payload) => work(violationJob.parse(payload).violation_id),
          runs: async (payload) => work(runJob.parse(payload).run_id),
          subscriptions: async (payload) => work(subscriptionJob.parse(payload).subscription_id),
        },
        connection: patient,
        prefix: PARTITION,
        concurrency: 4,
        lockMs: 20_000,
        stopGraceMs: STOP_GRACE_MS,
        endCalls,
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
