import { processDeliveries } from '../../jobs/process-delivery';
import { CALLS, runOutbox } from '../../jobs/run-outbox';
import { sendReports } from '../../jobs/run-outbox';
import { deliveryJob, reportJob, violationJob, runJob } from '../contracts/ops/jobs';
import { WEBHOOK_READERS } from '../contracts/webhook/read-webhook';
import { requireService } from '../platform/config/config';
import { throttledLog } from '../platform/log/log-throttle';
import type { Resources } from '../platform/resources';
import type { WorkerProgress } from '../queue/supervise';
import type { JobHandler } from '../queue/workers';
import { outboxRateLimits } from '../store/service/budgets';
import { createDeliveryStore } from '../store/webhook/deliveries';
import { createTowOutbox, createViolationOutbox } from '../store/outbox/outbox';
import { recordsOf } from '../store/outbox/records';
import { createTowStore } from '../store/tow/tows';
import { isTransient } from '../store/redis/until-answered';
import { createDeferral } from '../workflow/webhook/defer-delivery';
import type { DeliveryKind, QueueName } from '../domain/vocabulary';
import type { Foundation } from './foundation';
import { openSubscriptionHandler } from './subscriptions';
import { agreeingClient, openLookups, openServiceClient } from './service';
import { carryOutRun, type CarryOutRunTools } from '../../jobs/carry-out-run';
import { isPerson, type Actor } from '../domain/ops/audit';
import { BOOTSTRAP } from '../operator';
import { createApiKeyStore } from '../store/person/api-keys';
import { createRunStore } from '../store/ops/runs';
import { createTaskStore } from '../store/ops/tasks';

/** A call that leaves as late as possible ends this long before its lease. */
const LEASE_MARGIN_MS = 500;
/** A call whose token is refused is made once more. */
const UPLOADS_PER_CALL = 2;
const DEFERRAL = { retryBaseMs: 1000, retryCapMs: 300_000 };

/** Opens the job handlers of a worker, by queue; `endCalls` ends their calls to the service. @throws ConfigurationError without access to the service. */
export function openHandlers(
  foundation: Foundation,
  {
    resources,
    leaseMs,
    progress,
    isContradicted,
  }: {
    resources: Resources;
    leaseMs: number;
    progress: WorkerProgress;
    /** Whether another worker calls a different service. */
    isContradicted: () => Promise<boolean>;
  },
): { readonly handlers: Readonly<Record<QueueName, JobHandler>>; readonly endCalls: () => void } {
  const { config, clock, log, metrics, redis, spool, tracing } = foundation;
  const client = openServiceClient(foundation, { access: requireService(config), resources });
  const service = agreeingClient(client, isContradicted, clock);
  const tows = createTowStore(redis);
  const records = recordsOf(redis);
  const { policy, budgetsPerMinute } = config;
  const { unknownGraceMs, giveUpAfterMs } = policy;
  const { proofMs, checksTicket } = config.violations;
  const rateLimits = outboxRateLimits(budgetsPerMinute);
  const claimMaxAgeMs = leaseMs - config.service.timeoutMs - LEASE_MARGIN_MS;
  const sending = { records, service, settings: policy, claimMaxAgeMs, clock, log, metrics, tracing };
  const deliveries = createDeliveryStore(redis);
  const defer = createDeferral(records, DEFERRAL, isTransient);
  const observe = (kind: DeliveryKind, body: string) => foundation.serviceObserver.received(kind, body);
  const delivering = {
    records,
    deliveries,
    readers: WEBHOOK_READERS,
    defer,
    isTransient,
    clock,
    log,
    transientLog: throttledLog(log, { clock, by: ['error'] }),
    metrics,
    tracing,
    observe,
  };
  const reporting = {
    ...sending,
    outbox: createTowOutbox(redis, clock, {
      leaseMs,
      graceMs: unknownGraceMs,
      giveUpAfterMs,
      rateLimit: rateLimits.tow,
    }),
  };
  const submitting = {
    ...sending,
    tows,
    outbox: createViolationOutbox(redis, clock, {
      leaseMs,
      graceMs: proofMs,
      giveUpAfterMs,
      rateLimit: rateLimits.violation,
      checksTicket,
    }),
    uploads: {
      maxMs: UPLOADS_PER_CALL * config.service.uploadTimeoutMs,
      onRenewed: () => progress.progressed('violations'),
    },
    spool,
    tickets: openLookups(foundation, service),
  };
  const handlers: Readonly<Record<QueueName, JobHandler>> = {
    deliveries: async (payload) => processDeliveries(deliveryJob.parse(payload), delivering),
    reports: async (payload, isStopping) => sendReports(reportJob.parse(payload), reporting, isStopping),
    violations: async (payload, isStopping) =>
      runOutbox(CALLS.violation, violationJob.parse(payload).violation_id, submitting, isStopping),
    runs: openRunHandler(foundation),
    subscriptions: openSubscriptionHandler(foundation),
  };
  return { handlers, endCalls: () => service.close() };
}

/** Opens the job handler that carries out runs. */
export function openRunHandler(foundation: Foundation): JobHandler {
  const tools = openRunHandlerTools(foundation);
  return async (payload) => carryOutRun(runJob.parse(payload), tools);
}

export function openRunHandlerTools({ config, clock, log, redis }: Foundation): CarryOutRunTools {
  const keys = createApiKeyStore(redis);
  const holder = async ({ id, ...actor }: Actor): Promise<Actor | null> => {
    // The bootstrap key has no record, and a worker may run without its variable. A person keeps the role of the sign-in.
    if (id === BOOTSTRAP || isPerson({ id })) return { id, ...actor };
    const key = await keys.read(id);
    return key && { id, name: key.name, role: key.role };
  };
  return {
    runs: createRunStore(redis),
    facts: { records: recordsOf(redis), clock, rules: config.rules },
    tasks: createTaskStore(redis),
    readers: WEBHOOK_READERS,
    holder,
    isTransient,
    clock,
    log,
  };
}
