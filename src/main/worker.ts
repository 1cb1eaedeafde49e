import { processDelivery } from '../../jobs/process-delivery';
import { sendReport } from '../../jobs/send-report';
import { deliveryJob, reportJob } from '../contracts/jobs';
import { requireService } from '../platform/config';
import { startPump } from '../queue/pump';
import { createProgress, type Progress } from '../queue/progress';
import { startWorkers } from '../queue/workers';
import { createServiceClient } from '../service';
import { createDeliveryStore, createSettling } from '../store/deliveries';
import { PARTITION } from '../store/keys';
import { createOutboxStore } from '../store/outbox';
import { createTokenCache } from '../store/tokens';
import { createTowStore } from '../store/tows';
import type { Foundation } from './foundation';

/** A claim lasts as long as the lock of its job; both outlast a call, whose deadline is at most 14 s. */
const LEASE_MS = 20_000;
const PUMP_INTERVAL_MS = 500;
const DEFERRAL = { baseMs: 1000, capMs: 300_000 };

/** Work that was handed out and does not end for this long means that the workers are dead, however alive they look. */
const STANDSTILL_MS = 60_000;

/** Starts the workers that process deliveries and send reports. Throws ConfigurationError without access to the service. */
export function startWorker(foundation: Foundation): Progress {
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
  const settling = createSettling(redis, DEFERRAL);
  const settings = { leaseMs: LEASE_MS, unknownGraceMs: config.policy.unknownGraceMs };
  const outbox = createOutboxStore(redis, clock, settings);

  const progress = createProgress(clock);
  const workers = startWorkers({
    queues,
    handlers: {
      deliveries: async (payload) =>
        processDelivery(deliveryJob.parse(payload), { tows, deliveries, wake, ...settling, log, metrics }),
      reports: async (payload) =>
        sendReport(reportJob.parse(payload), { outbox, tows, service, settings: config.policy, clock, log, metrics }),
    },
    connection: foundation.patient(),
    prefix: PARTITION,
    concurrency: config.workerConcurrency,
    lockMs: LEASE_MS,
    stopGraceMs: config.stopGraceMs,
    progress,
    clock,
    log,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  const pump = startPump({ queues, due: foundation.due, intervalMs: PUMP_INTERVAL_MS, progress, log });
  resources.add('pump', pump, (opened) => opened.stop());
  log.info('worker.started', { concurrency: config.workerConcurrency });
  return progress;
}

/** Whether the workers make progress: whatever was handed out to them ends. */
export function workerHealth(progress: Progress) {
  const standstillMs = progress.standstillMs();
  const standsStill = standstillMs > STANDSTILL_MS;
  return Promise.resolve({
    ready: !standsStill,
    details: { worker: standsStill ? 'standing_still' : 'progressing', standstill_ms: Math.round(standstillMs) },
  });
}
