import type { Resources } from '../platform/resources';
import { startPump } from '../queue/pump';
import { errorFacts } from '../platform/log';
import { QUEUE_NAMES, type QueueName } from '../queue/queues';
import { onNudges } from '../store/nudges';
import { createProgress, type Progress } from '../queue/progress';
import { startWorkers } from '../queue/workers';
import { PARTITION } from '../store/keys';
import { startConservation } from './conservation';
import type { Foundation } from './foundation';
import { openHandlers } from './handlers';
import { startRetention } from './retention';
import { superviseWorker, type OnStandstill, type SupervisedWorker } from './supervise';

/** A claim lasts as long as the lock of its job; both outlast a call, whose deadline is at most 14 s. */
const LEASE_MS = 20_000;
const PUMP_INTERVAL_MS = 500;

/**
 * Starts the workers that process deliveries and send reports, and beside them the conservation check and the archiving of
 * what is finished. Throws ConfigurationError without access to
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
  const { config, clock, troubleLog, queues } = foundation;
  const progress = createProgress(clock);
  const workers = startWorkers({
    queues,
    handlers: openHandlers(foundation, { resources, leaseMs: LEASE_MS }),
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
  const isQueue = (name: string): name is QueueName => QUEUE_NAMES.some((known) => known === name);
  onNudges(foundation.patient(resources), (name) => {
    if (isQueue(name)) pump.nudge(name);
  }).catch((error: unknown) => troubleLog.warn('nudges.failed', errorFacts(error)));
  return progress;
}
