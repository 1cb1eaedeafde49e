import { processDelivery } from '../../jobs/process-delivery';
import { sendReport } from '../../jobs/send-report';
import { deliveryJob, reportJob } from '../contracts/jobs';
import { requireService } from '../platform/config';
import type { Resources } from '../platform/resources';
import { startPump } from '../queue/pump';
import { createProgress, type Progress } from '../queue/progress';
import { startWorkers } from '../queue/workers';
import { createServiceClient } from '../service';
import { createBudgets, LEAVES_WITHIN_MS, slidingWindow } from '../store/budgets';
import { createDeliveryStore, createSettling } from '../store/deliveries';
import { PARTITION } from '../store/keys';
import { createOutboxStore } from '../store/outbox';
import { createTokenCache } from '../store/tokens';
import { createTowStore } from '../store/tows';
import { startConservation } from './conservation';
import type { Foundation } from './foundation';
import { startRetention } from './retention';
import { superviseWorker, type OnStandstill, type SupervisedWorker } from './supervise';

/** A claim lasts as long as the lock of its job; both outlast a call, whose deadline is at most 14 s. */
const LEASE_MS = 20_000;
/** A report leaves within this time after its claim began, or not at all. */
const CLAIM_MAX_AGE_MS = 5000;
const PUMP_INTERVAL_MS = 500;
const DEFERRAL = { baseMs: 1000, capMs: 300_000 };

/**
 * Starts the workers that process deliveries and send reports, and what keeps house beside them: the walk that looks for
 * everything acknowledged, and the way of what is finished into the archive. Throws ConfigurationError without access to
 * the service.
 */
export function startWorker(foundation: Foundation, onStandstill: OnStandstill = 'rebuild'): SupervisedWorker {
  const worker = superviseWorker(foundation, { open: (owner) => openWorker(foundation, owner), onStandstill });
  startConservation(foundation);
  startRetention(foundation);
  foundation.log.info('worker.started', { concurrency: foundation.config.workerConcurrency });
  return worker;
}

/** Opens all that one worker works with; it works until the resources close. */
function openWorker(foundation: Foundation, resources: Resources): Progress {
  const { config, clock, log, troubleLog, metrics, redis, queues, wake } = foundation;
  const service = resources.add(
    'service client',
    createServiceClient({
      ...requireService(config),
      timeoutMs: config.service.timeoutMs,
      tokens: createTokenCache(redis),
      budgets: createBudgets(redis, config.budgetsPerMinute),
      clock,
      log,
    }),
    (client) => client.close(),
  );
  const tows = createTowStore(redis);
  const deliveries = createDeliveryStore(redis);
  const settling = createSettling(redis, DEFERRAL);
  const { unknownGraceMs, giveUpAfterMs } = config.policy;
  const towBudget = slidingWindow(config.budgetsPerMinute.tow);
  const settings = { leaseMs: LEASE_MS, unknownGraceMs, giveUpAfterMs, towBudget };
  const outbox = createOutboxStore(redis, clock, settings);
  const claimMaxAgeMs = towBudget.limit > 0 ? LEAVES_WITHIN_MS : CLAIM_MAX_AGE_MS;

  const progress = createProgress(clock);
  const workers = startWorkers({
    queues,
    handlers: {
      deliveries: async (payload) =>
        processDelivery(deliveryJob.parse(payload), { tows, deliveries, wake, ...settling, log, metrics }),
      reports: async (payload) =>
        sendReport(reportJob.parse(payload), {
          outbox,
          tows,
          service,
          settings: config.policy,
          claimMaxAgeMs,
          clock,
          log,
          metrics,
        }),
    },
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: config.workerConcurrency,
    lockMs: LEASE_MS,
    stopGraceMs: config.stopGraceMs,
    progress,
    log: troubleLog,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  const pump = startPump({ queues, due: foundation.due, intervalMs: PUMP_INTERVAL_MS, progress, log: troubleLog });
  resources.add('pump', pump, (opened) => opened.stop());
  return progress;
}

/** Whether the worker makes progress. */
export function workerHealth(worker: SupervisedWorker) {
  const standstill = worker.standstill();
  return Promise.resolve({
    ready: standstill === null,
    details: standstill
      ? { worker: 'standing_still', standing_part: standstill.part, standstill_ms: Math.round(standstill.ms) }
      : { worker: 'progressing' },
  });
}
