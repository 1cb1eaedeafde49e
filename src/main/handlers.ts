import { processDeliveries } from '../../jobs/process-delivery';
import { CALLS, sendEntry } from '../../jobs/send-entry';
import { deliveryJob, reportJob, violationJob } from '../contracts/jobs';
import { requireService } from '../platform/config';
import type { Resources } from '../platform/resources';
import type { QueueName } from '../queue/queues';
import type { Handler } from '../queue/workers';
import { createServiceClient } from '../service';
import { createBudgets, slidingWindow } from '../store/budgets';
import { createDeliveryStore } from '../store/deliveries';
import { createDeferral } from '../store/failing-deliveries';
import { createTowOutbox, createViolationOutbox } from '../store/outbox';
import { createRecordStore } from '../store/record-store';
import { createTokenCache } from '../store/tokens';
import { createTowStore } from '../store/tows';
import { openBulkHandler } from './bulk';
import type { Foundation } from './foundation';
import { openLookups } from './lookups';

/** What was sent at the last possible moment is answered, or given up, so long before its lease ends. */
const LEASE_MARGIN_MS = 500;
const DEFERRAL = { baseMs: 1000, capMs: 300_000 };

/**
 * Opens what one worker works with: the jobs by queue, each with its tools. Throws ConfigurationError without access to
 * the service.
 */
export function openHandlers(
  foundation: Foundation,
  { resources, leaseMs }: { resources: Resources; leaseMs: number },
): Readonly<Record<QueueName, Handler>> {
  const { config, clock, log, metrics, redis, spool, wake } = foundation;
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
  const records = createRecordStore(redis);
  const { policy, budgetsPerMinute } = config;
  const { unknownGraceMs, giveUpAfterMs } = policy;
  const { proofMs, checksTicket } = config.violations;
  const towBudget = slidingWindow(budgetsPerMinute.tow);
  const violationBudget = slidingWindow(budgetsPerMinute.violations);
  const claimMaxAgeMs = leaseMs - config.service.timeoutMs - LEASE_MARGIN_MS;
  const sending = { service, settings: policy, claimMaxAgeMs, clock, log, metrics };
  const deliveries = createDeliveryStore(redis);
  const defer = createDeferral(redis, DEFERRAL);
  const delivering = { records, deliveries, wake, defer, clock, log, metrics };
  const reporting = {
    ...sending,
    outbox: createTowOutbox(redis, clock, { leaseMs, unknownGraceMs, giveUpAfterMs, towBudget }),
  };
  const submitting = {
    ...sending,
    tows,
    records,
    outbox: createViolationOutbox(redis, clock, {
      leaseMs,
      proofMs,
      giveUpAfterMs,
      violationBudget,
      checksTicket,
    }),
    spool,
    tickets: openLookups(foundation, service),
    proofMs,
  };
  return {
    deliveries: async (payload) => processDeliveries(deliveryJob.parse(payload), delivering),
    reports: async (payload) => sendEntry(CALLS.tow, reportJob.parse(payload).towing_reference_id, reporting),
    violations: async (payload) => sendEntry(CALLS.violation, violationJob.parse(payload).violation_id, submitting),
    bulk: openBulkHandler(foundation),
  };
}
