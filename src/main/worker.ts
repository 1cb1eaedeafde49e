import { startArchiver } from '../archive/archiver';
import type { Resources } from '../platform/resources';
import { AFTER_START_MS, within, type Repetition, repeat } from '../platform/timers';
import { type WorkerProgress, superviseWorker, type SupervisedWorker, type SuperviseOptions } from '../queue/supervise';
import { startScheduler } from '../queue/scheduler';
import { startWorkers } from '../queue/workers';
import { writability } from '../store/redis/connect';
import { createConservationStore } from '../store/ops/conservation';
import { createDeliveryStore } from '../store/webhook/deliveries';
import { PARTITION } from '../store/keys';
import { createLocks } from '../store/redis/locks';
import { createArchiveTask, createRetentionStore } from '../store/ops/retention';
import { waitsUntilDue } from '../store/outbox/schedules';
import { createTowStore } from '../store/tow/tows';
import { isTransient } from '../store/redis/until-answered';
import { createViolationStore } from '../store/violation/violations';
import { repeatConservationCheck } from '../workflow/ops/conservation';
import type { Foundation } from './foundation';
import { watchDisk } from './gauges';
import { openHandlers } from './handlers';
import { wakeSubscriptions } from './subscriptions';
import { startTokenProof } from './token-proof';
import { requireService } from '../platform/config/config';
import { accessDigests } from '../service/addresses';
import { createProcessStore } from '../store/ops/processes';
import { serviceDifference, workersDiffer } from '../workflow/service/called-service';

/** Lease of a claim and lock of its job; longer than a call, whose deadline is at most 14 s. A call with images renews it. */
const LEASE_MS = 20_000;
const SCHEDULER_INTERVAL_MS = 500;
/** How long a stop waits for the archive, whose disk may hang. The lock of an unfinished run expires by itself. */
const RETENTION_STOP_MS = 2000;

/**
 * Starts a worker, the conservation check and the archiving of finished records. `announced` resolves when other
 * processes see this one.
 *
 * @throws ConfigurationError without access to the service.
 */
export function startWorker(
  foundation: Foundation,
  announced: Promise<void>,
  { rebuildsOnce, onStall }: Pick<SuperviseOptions, 'rebuildsOnce' | 'onStall'>,
): SupervisedWorker {
  const { config, redis, queues, backlogOf, clock, log, resources } = foundation;
  const called = resources.add('called service', watchCalledService(foundation, announced), (opened) => opened.stop());
  const worker = superviseWorker(
    {
      queues,
      backlogOf,
      canWork: async () => (await writability(redis)) === 'writable',
      limitMs: config.workerStalledMs,
      stopGraceMs: config.stopGraceMs,
      resources,
      clock,
      log,
    },
    {
      open: (owner, progress) => openWorker(foundation, { resources: owner, progress, called }),
      rebuildsOnce,
      onStall,
    },
  );
  startTokenProof(foundation);
  startConservation(foundation);
  startRetention(foundation);
  resources.add('subscriptions', wakeSubscriptions(foundation), (opened) => opened.stop());
  watchDisk(foundation.metrics, config.dataDir);
  log.info('worker.started', { concurrency: config.workerConcurrency });
  return worker;
}

/** Opens one worker: job handlers and scheduler. It works until the resources are closed. */
function openWorker(
  foundation: Foundation,
  { resources, progress, called }: { resources: Resources; progress: WorkerProgress; called: CalledServiceWatch },
): void {
  const { config, troubleLog, queues } = foundation;
  const workers = startWorkers({
    queues,
    ...openHandlers(foundation, {
      resources,
      leaseMs: LEASE_MS,
      progress,
      isContradicted: () => called.isContradicted(),
    }),
    connection: foundation.patient(resources),
    prefix: PARTITION,
    concurrency: config.workerConcurrency,
    lockMs: LEASE_MS,
    stopGraceMs: config.stopGraceMs,
    progress,
    log: troubleLog,
  });
  resources.add('workers', workers, (opened) => opened.stop());
  const { schedules } = foundation;
  const scheduler = startScheduler({
    queues,
    schedules,
    waitsUntilDue: () => waitsUntilDue(foundation.redis),
    // With nothing to do it looks every fourth interval, which must not count as a stall.
    intervalMs: Math.min(SCHEDULER_INTERVAL_MS, config.workerStalledMs / 8),
    progress,
    log: troubleLog,
  });
  resources.add('scheduler', scheduler, (opened) => opened.stop());
}

export function startConservation({ redis, clock, log, resources }: Foundation): Repetition {
  const checking = repeatConservationCheck({
    store: createConservationStore(redis),
    firstAfterMs: AFTER_START_MS,
    clock,
    log,
  });
  return resources.add('conservation', checking, (opened) => opened.stop());
}

/** Starts the archiving of finished records; `everyMs` is the pause between two sweeps. */
export function startRetention(foundation: Foundation, everyMs?: number): Repetition {
  const { config, clock, dataKeys, log, metrics, redis, resources } = foundation;
  const archiver = startArchiver(
    {
      locks: createLocks(redis, clock),
      task: createArchiveTask(redis),
      tows: createTowStore(redis),
      deliveries: createDeliveryStore(redis),
      violations: createViolationStore(redis),
      retention: createRetentionStore(redis),
      keep: config.keep,
      isTransient,
      dataDir: config.dataDir,
      keys: dataKeys,
      clock,
      log,
      metrics,
    },
    everyMs,
  );
  return resources.add('retention', archiver, (opened) => within(RETENTION_STOP_MS, opened.stop()));
}

const EVERY_MS = 5000;
/** A heartbeat that is not stored by then does not keep the worker from its first look. */
const ANNOUNCED_WITHIN_MS = 5000;

/** Whether another worker calls a different service than this one. */
export interface CalledServiceWatch {
  /** As of the last look that Redis answered while the other workers were known; true before the first one. */
  isContradicted(): Promise<boolean>;
  stop(): Promise<void>;
}

/**
 * Compares the service that this worker calls with that of the other workers, at the start and every 5 s. While they
 * differ, no worker makes a call. A worker that was killed counts until its heartbeat expires. `announced` resolves when
 * others see this worker: of two that start at once, at least one sees the other.
 */
export function watchCalledService(
  { config, redis, heartbeatGaps, troubleLog: log }: Foundation,
  announced: Promise<void>,
): CalledServiceWatch {
  const own = accessDigests(requireService(config));
  const store = createProcessStore(redis);
  let isContradicted: boolean | null = null;
  const look = async () => {
    const processes = await store.list();
    const isDifferent = workersDiffer(processes, own);
    // The first look decides in any case: a worker that starts while Redis is away must not wait for the others.
    if (isDifferent || isContradicted === null || heartbeatGaps.areOthersKnown()) isContradicted = isDifferent;
    if (isDifferent) {
      const problem =
        'workers on this Redis differ in the service that they call: nothing is sent until all agree or the other worker has ended';
      log.error('service.contradicted', { ...serviceDifference(processes), problem });
    }
  };
  const first = within(ANNOUNCED_WITHIN_MS, announced)
    .then(look)
    .catch(() => {});
  const repetition = repeat({
    name: 'called_service',
    everyMs: EVERY_MS,
    firstAfterMs: EVERY_MS,
    log,
    work: look,
  });
  return {
    async isContradicted() {
      await first;
      return isContradicted ?? true;
    },
    stop: () => repetition.stop(),
  };
}
