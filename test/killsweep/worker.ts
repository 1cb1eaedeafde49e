import type { JobOutcome } from '../../src/contracts/ops/jobs';
import type { QueueName } from '../../src/domain/vocabulary';
import type { Config } from '../../src/platform/config/config';
import { silentLog } from '../../src/platform/log/log';
import { createResources } from '../../src/platform/resources';
import { createWorkerProgress } from '../../src/queue/supervise';
import type { Foundation } from '../../src/main/foundation';
import { openHandlers } from '../../src/main/handlers';
import { createSpool } from '../../src/spool';
import { createSchedules, type Schedule } from '../../src/store/outbox/schedules';
import { createSpoolMarker } from '../../src/store/ops/spool-marker';
import { openCallProxy } from './call-proxy';
import { connectInSteps } from './redis-steps';
import { diskInSteps, type Steps } from './steps';

/** One worker: what production wires, on a connection, a disk and a way to the service whose every use is a step. */
export interface Worker {
  /** Does everything that is due now, as its scheduler and its jobs do. */
  work(): Promise<void>;
  /** Jobs that ended with an error. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

/** What a worker is opened with. */
export interface WorkerSetup {
  readonly foundation: Foundation;
  readonly redisUrl: string;
  /** With its path prefix. */
  readonly serviceUrl: string;
  readonly config: Config;
}

/** The lease of production: a claim must outlast a call on a busy machine. Tests end it without waiting. */
const LEASE_MS = 20_000;
const POLLED_MAX = 20;
/** As long as the scheduler of production puts off what it has taken. */
const VISIBILITY_TIMEOUT_MS = 10_000;

export async function openWorker(
  { foundation, redisUrl, serviceUrl, config }: WorkerSetup,
  steps: Steps,
): Promise<Worker> {
  const resources = createResources(silentLog);
  const redis = await connectInSteps(redisUrl, steps);
  resources.add('redis', redis, (connection) => connection.disconnect());
  const service = new URL(serviceUrl);
  const proxy = resources.add('proxy', await openCallProxy(service.origin, steps), (opened) => opened.close());
  const { clock } = steps;
  const { dataDir } = config;
  const spool = createSpool({ dataDir, marker: createSpoolMarker(redis), keepMs: 0, clock, log: silentLog });
  const { handlers } = openHandlers(
    {
      ...foundation,
      config: { ...config, service: { ...config.service, baseUrl: `${proxy.url}${service.pathname}` } },
      clock,
      redis,
      resources,
      spool: diskInSteps(spool, steps),
    },
    {
      resources,
      leaseMs: LEASE_MS,
      progress: createWorkerProgress(clock),
      isContradicted: () => Promise.resolve(false),
    },
  );
  const schedules = createSchedules(redis);
  const failures: string[] = [];
  const run = async (queue: QueueName, payload: unknown): Promise<void> => {
    const outcome = await handlers[queue](payload, () => false).catch((error: unknown): JobOutcome => {
      failures.push(`${queue}: ${error instanceof Error ? error.message : String(error)}`);
      return { kind: 'done', what: 'failed' };
    });
    if (outcome.kind === 'continue') await run(queue, payload);
  };
  return {
    failures,
    async work() {
      // A scheduler whose Redis is away polls again later.
      const poll = (schedule: Schedule) =>
        schedule.pollDue(POLLED_MAX, VISIBILITY_TIMEOUT_MS).catch((error: unknown) => {
          failures.push(`scheduler: ${String(error)}`);
          return [];
        });
      const ids = await poll(schedules.deliveries);
      if (ids.length > 0) await run('deliveries', { delivery_ids: ids });
      for (const ref of await poll(schedules.reports)) await run('reports', { towing_reference_id: ref });
      for (const id of await poll(schedules.violations)) await run('violations', { violation_id: id });
      for (const id of await poll(schedules.runs)) await run('runs', { run_id: id });
    },
    close: () => resources.closeAll(),
  };
}
