import type { Outcome } from '../../jobs/outcome';
import type { Config } from '../../src/platform/config';
import { silentLog } from '../../src/platform/log';
import { createResources } from '../../src/platform/resources';
import { createWake } from '../../src/queue/wake';
import type { QueueName } from '../../src/queue/queues';
import type { Foundation } from '../../src/main/foundation';
import { openHandlers } from '../../src/main/handlers';
import { createSpool } from '../../src/spool';
import { createDueSets } from '../../src/store/due';
import { nudge } from '../../src/store/nudges';
import { createSpoolMarker } from '../../src/store/spool-marker';
import { openGate } from './gate';
import { connectInSteps } from './redis-steps';
import { diskInSteps, type Steps } from './steps';

/** One worker: what production wires, on a connection, a disk and a way to the service whose every use is a step. */
export interface Worker {
  /** Does everything that is due now, as its poller and its jobs do. */
  work(): Promise<void>;
  /** Jobs that ended with an error. */
  readonly failures: readonly string[];
  close(): Promise<void>;
}

/** What a worker is opened with. */
export interface Ground {
  readonly foundation: Foundation;
  readonly redisUrl: string;
  /** With its path prefix. */
  readonly serviceUrl: string;
  readonly config: Config;
}

/** The lease of production: a claim must outlast a call on a busy machine. Tests end it without waiting. */
const LEASE_MS = 20_000;
const TAKE_MAX = 20;
/** As long as the poller of production puts off what it has taken. */
const TAKEN_FOR_MS = 10_000;

export async function openWorker({ foundation, redisUrl, serviceUrl, config }: Ground, steps: Steps): Promise<Worker> {
  const resources = createResources(silentLog);
  const redis = await connectInSteps(redisUrl, steps);
  resources.add('redis', redis, (connection) => connection.disconnect());
  const service = new URL(serviceUrl);
  const gate = resources.add('gate', await openGate(service.origin, steps), (opened) => opened.close());
  const { clock } = steps;
  const { dataDir } = config;
  const spool = createSpool({ dataDir, marker: createSpoolMarker(redis), keepMs: 0, clock, log: silentLog });
  const handlers = openHandlers(
    {
      ...foundation,
      config: { ...config, service: { ...config.service, baseUrl: `${gate.url}${service.pathname}` } },
      clock,
      redis,
      resources,
      wake: createWake((queue) => nudge(redis, queue)),
      spool: diskInSteps(spool, steps),
    },
    { resources, leaseMs: LEASE_MS },
  );
  const due = createDueSets(redis);
  const failures: string[] = [];
  const run = async (queue: QueueName, payload: unknown): Promise<void> => {
    const outcome = await handlers[queue](payload).catch((error: unknown): Outcome => {
      failures.push(`${queue}: ${error instanceof Error ? error.message : String(error)}`);
      return { kind: 'done', what: 'failed' };
    });
    if (outcome.kind === 'more') await run(queue, payload);
  };
  return {
    failures,
    async work() {
      // A poller whose Redis is away looks again later.
      const take = (schedule: (typeof due)[keyof typeof due]) =>
        schedule.take(TAKE_MAX, TAKEN_FOR_MS).catch((error: unknown) => {
          failures.push(`poller: ${String(error)}`);
          return [];
        });
      const ids = await take(due.deliveries);
      if (ids.length > 0) await run('deliveries', { delivery_ids: ids });
      for (const ref of await take(due.tows)) await run('reports', { towing_reference_id: ref });
      for (const id of await take(due.violations)) await run('violations', { violation_id: id });
      for (const id of await take(due.bulk)) await run('bulk', { bulk_id: id });
    },
    close: () => resources.closeAll(),
  };
}
