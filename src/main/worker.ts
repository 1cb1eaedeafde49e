import { processDelivery } from '../../jobs/process-delivery';
import { sendReport } from '../../jobs/send-report';
import { deliveryJob, reportJob } from '../contracts/jobs';
import { requireService } from '../platform/config';
import { startPump } from '../queue/pump';
import { startWorkers, type Workers } from '../queue/workers';
import { createServiceClient } from '../service';
import { createDeferral, createDeliveryStore } from '../store/deliveries';
import { PARTITION } from '../store/keys';
import { createOutboxStore } from '../store/outbox';
import { createTokenCache } from '../store/tokens';
import { createTowStore } from '../store/tows';
import type { Foundation } from './foundation';

/** A claim lasts as long as the lock of its job; both outlast a call, whose deadline is at most 14 s. */
const LEASE_MS = 20_000;
const PUMP_INTERVAL_MS = 500;
const DEFERRAL = { baseMs: 1000, capMs: 300_000 };

/** Work that is due but does not move for this long means that the workers are dead, however alive they look. */
const STANDSTILL_MS = 60_000;

/** Starts the workers that process deliveries and send reports. Throws ConfigurationError without access to the service. */
export function startWorker(foundation: Foundation): Workers {
  const { config, clock, log, metrics, resources, redis, queues, wake } = foundation;
  const service = resources.add(
    'service client',
    createServiceClient({
      ...requireService(config),
      timeoutMs: config.service.timeoutMs,
      tokens: createTokenCache(redis),
      clock,
      log,
    }),
    (client) => client.close(),
  );
  const tows = createTowStore(redis);
  const deliveries = createDeliveryStore(redis);
  const defer = createDeferral(redis, DEFERRAL);
  const settings = { leaseMs: LEASE_MS, unknownGraceMs: config.policy.unknownGraceMs };
  const outbox = createOutboxStore(redis, clock, settings);

  const workers = startWorkers({
    queues,
    handlers: {
      deliveries: (payload) =>
        processDelivery(deliveryJob.parse(payload), { tows, deliveries, wake, defer, log, metrics }),
      reports: (payload) =>
        sendReport(reportJob.parse(payload), { outbox, tows, service, settings: config.policy, clock, log, metrics }),
    },
    connection: foundation.patient(),
    prefix: PARTITION,
    concurrency: config.workerConcurrency,
    lockMs: LEASE_MS,
    clock,
    log,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  const pump = startPump({ queues, due: foundation.due, intervalMs: PUMP_INTERVAL_MS, log });
  resources.add('pump', pump, (opened) => opened.stop());
  log.info('worker.started', { concurrency: config.workerConcurrency });
  return workers;
}

/** Whether the workers make progress: nothing is due, or a job ended not long ago. */
export async function workerHealth(foundation: Foundation, workers: Workers) {
  const backlogs = await Promise.all([foundation.due.deliveries.backlog(), foundation.due.reports.backlog()]);
  const oldestAgeMs = Math.max(...backlogs.map((backlog) => backlog.oldestAgeMs));
  const sinceLastTurnMs = foundation.clock.monotonicMs() - workers.lastTurnMs();
  const standsStill = oldestAgeMs > STANDSTILL_MS && sinceLastTurnMs > STANDSTILL_MS;
  return {
    ready: !standsStill,
    details: { worker: standsStill ? 'standing_still' : 'progressing', oldest_due_age_ms: oldestAgeMs },
  };
}
