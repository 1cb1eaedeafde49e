import type { Redis } from 'ioredis';
import { processDeliveries, type ProcessDeliveryTools } from '../../jobs/process-delivery';
import {
  isTowingReference,
  isViolationReference,
  type JsonObject,
  type PausableOperation,
  type TowingReference,
} from '../../src/domain/vocabulary';
import type { Verdict } from '../../src/domain/policy';
import { towingReference } from '../../src/contracts/common';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log';
import { createMetrics } from '../../src/platform/metrics';
import { connectFailFast, whenReady } from '../../src/store/connect';
import { createDeliveryStore, createIntake } from '../../src/store/deliveries';
import { createDueSets } from '../../src/store/due';
import { createTowOutbox } from '../../src/store/outbox';
import { createRecordStore } from '../../src/store/record-store';
import { createTaskStore } from '../../src/store/tasks';
import { createTowStore } from '../../src/store/tows';
import { createViolationStore } from '../../src/store/violations';
import type { AttemptResult } from '../../src/domain/settle-attempt';
import type { ClaimedReport, TowOutbox } from './outboxes';
import { createDeferral } from '../../src/store/failing-deliveries';
import type { Wake } from '../../src/workflow/ports';
import { decideReport, type DecisionCommand } from '../../src/workflow/decisions';
import { recordFact } from '../../src/workflow/progress';
import { replayDelivery } from '../../src/workflow/replay-delivery';
import { resolveTask } from '../../src/workflow/resolve-task';
import { resumeOperation } from '../../src/workflow/resume-operation';
import { lineOfTow, type RecordStore, type Remember } from '../../src/workflow/transaction-port';
import type { FactCommand } from '../../src/domain/fact-command';
import { isKnown, type KnownTow } from '../../src/domain/stored-tow';
import { NO_LIMITS } from './budgets';

/** Short enough to be waited for, long enough to be seen. */
export const LEASE_MS = 150;
export const GRACE_MS = 150;

export const RULES = {
  vehicleTypes: ['HEAVY'],
  paymentStatuses: ['PAID'],
  freeDays: 0,
  releaseRequiresPayment: 'invoiced',
  overdueAfter: { requestedMs: 45 * 60_000, startedMs: 240 * 60_000, reportMs: 15 * 60_000 },
} as const;

export const START = {
  event: 'started',
  plateNumber: 'ABC 1234',
  towedLocation: 'Olaya Street',
  latitude: 24.7136123456789,
  longitude: 46.6753,
} as const;
export const INVOICE = { event: 'invoice', vehicleType: 'HEAVY' } as const;

/** Stores over one Redis, with the use cases on top that put tows into them. */
export type Stores = Awaited<ReturnType<typeof openStores>>;

/** Who acts in tests. */
export const TESTER = { id: 'k1', name: 'tester', role: 'ops' } as const;

export const NO_WAKE: Wake = { delivery: () => {}, tow: () => {}, violation: () => {} };

export async function openStores(redisUrl: string) {
  const redis: Redis = connectFailFast(redisUrl, { log: silentLog });
  await whenReady(redis, 5000);
  const records = createRecordStore(redis);
  const tows = createTowStore(redis);
  const deliveries = createDeliveryStore(redis);
  const violations = createViolationStore(redis);
  const intake = createIntake(redis, systemClock);
  const outbox = createTowOutbox(redis, systemClock, { leaseMs: LEASE_MS, unknownGraceMs: GRACE_MS, ...NO_LIMITS });
  const accept = async (kind: 'tow_request' | 'tow_invoice', body: JsonObject, id: string) => {
    const towingReferenceId = towingReference.parse(body['towing_reference_id']);
    const rawBody = JSON.stringify(body);
    return intake.accept({ id, kind, towingReferenceId, rawBody, verified: true, signatureId: id });
  };
  const tools = deliveryTools(redis);
  const process = async (id: string, others: Partial<ProcessDeliveryTools> = {}) =>
    (await processDeliveries({ delivery_ids: [id] }, { ...tools, ...others })).what;
  const progress = { records, wake: NO_WAKE, clock: systemClock, rules: RULES };
  return {
    redis,
    records,
    progress,
    tows,
    deliveries,
    violations,
    outbox,
    due: createDueSets(redis),
    accept,
    process,
    /** Processes a delivery whose decisions fail. */
    fail: (id: string) => process(id, { records: failing(records) }),
    /** A tow that was requested and processed. */
    async request(ref: string): Promise<TowingReference> {
      await accept('tow_request', towRequest(ref), `request-${ref}`);
      await process(`request-${ref}`);
      return reference(ref);
    },
    /** An invoice webhook, stored and not processed yet. */
    acceptInvoice: (ref: string, id = `invoice-${ref}`) => accept('tow_invoice', towInvoice(ref), id),
    async say(ref: string, command: FactCommand) {
      const effect = await recordFact(progress, { ref, command, actor: TESTER });
      if (effect.kind !== 'done') throw new Error(`${command.event} was not recorded: ${JSON.stringify(effect)}`);
    },
    /** A person decides on a report; fails where that is not allowed. */
    async decide(ref: string, reportId: string, command: DecisionCommand) {
      const effect = await decideReport(progress, { ref, reportId, command, actor: TESTER });
      if (effect.kind !== 'done') throw new Error(`not decided: ${JSON.stringify(effect)}`);
    },
    /** A person replays a delivery; returns what it led to, or the code of the refusal. */
    async replay(id: string) {
      const effect = await replayDelivery(progress, { id, actor: TESTER, remember: undefined });
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** A person closes a task that only informs; returns `done`, or the code of the refusal. */
    async resolve(id: string, remember?: Remember) {
      const tasks = createTaskStore(redis);
      const effect = await resolveTask({ records, tasks }, { id, reason: 'a test', actor: TESTER, remember });
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** A person ends the pause of an operation; returns `done`, or the code of the refusal. */
    async resume(operation: PausableOperation) {
      const effect = await resumeOperation(
        { records },
        { operation, reason: 'a test', actor: TESTER, remember: undefined },
      );
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** Changes a tow past all rules. */
    change: (ref: string, change: (draft: KnownTow, nowMs: number) => void) => changeInStore(redis, ref, change),
    async read(ref: string) {
      const record = await tows.read(ref);
      if (!record) throw new Error('no such tow');
      return record;
    },
    async states(ref: string) {
      return (await this.read(ref)).reports.map(({ kind, state }) => `${kind} ${state}`);
    },
    /** When the tow is due, ms since the epoch; null when only a person can go on. */
    async dueAt(ref: string) {
      const score = await redis.zscore('{p0}:due:tows', ref);
      return score === null ? null : Number(score);
    },
    close: () => redis.disconnect(),
  };
}

/** What a worker processes deliveries with. */
export function deliveryTools(redis: Redis, wake: Wake = NO_WAKE): ProcessDeliveryTools {
  return {
    records: createRecordStore(redis),
    deliveries: createDeliveryStore(redis),
    wake,
    defer: createDeferral(redis, { baseMs: 1000, capMs: 5000 }),
    clock: systemClock,
    log: silentLog,
    metrics: createMetrics(),
  };
}

/** Makes no decision on a tow; a delivery can still be put off. */
function failing(records: RecordStore): RecordStore {
  return {
    transact: (line, decide) =>
      line.startsWith('tow ') ? Promise.reject(new Error('played by a test')) : records.transact(line, decide),
  };
}

/** Changes a tow of a Redis past all rules. */
export function changeInStore(
  redis: Redis,
  ref: string,
  change: (draft: KnownTow, nowMs: number) => void,
): Promise<void> {
  return createRecordStore(redis).transact(lineOfTow(ref), async (transaction) => {
    const draft = await transaction.tow(ref);
    if (!isKnown(draft)) throw new Error('no such tow');
    change(draft, transaction.nowMs);
  });
}

export function towRequest(ref: string): JsonObject {
  return { violation_reference_id: `V-${ref}`, towing_reference_id: ref, metadata: { id: `own-${ref}` } };
}

export function towInvoice(ref: string, total: number = 345): JsonObject {
  const charge = { vat_number: '300000000000003', paid_amount: 0, tax: 45 };
  return {
    violation_reference_id: `V-${ref}`,
    towing_reference_id: ref,
    towing_invoice: { invoice_number: `INV-${ref}`, total_amount: total, ...charge },
    delay_invoice: { invoice_number: `DEL-${ref}`, ...charge, total_amount: 0, tax: 0 },
    metadata: { id: `own-${ref}` },
  };
}

export function reference(ref: string): TowingReference {
  if (!isTowingReference(ref) || !isViolationReference(ref)) throw new Error('not a reference');
  return ref;
}

/** The right to send, or a failure of the test. */
export async function mustClaim(outbox: TowOutbox, ref: string): Promise<ClaimedReport> {
  const claim = await outbox.claim(ref);
  if (claim.kind !== 'send') throw new Error(`expected to send, but: ${JSON.stringify(claim)}`);
  return claim;
}

/** What an attempt came to, reduced to its verdict. */
export function result(verdict: Verdict, also: Partial<AttemptResult> = {}): AttemptResult {
  const isAccepted = verdict.next === 'accepted';
  return {
    verdict,
    attempt: { outcome: verdict.next, http_status: isAccepted ? 200 : null },
    error: isAccepted ? null : { http_status: null, message: 'played by a test' },
    answer: null,
    rawBody: null,
    named: null,
    hadNoEffect: false,
    isPermitSpent: true,
    wasAnswered: isAccepted,
    isForeign: false,
    service: isAccepted ? 'alive' : 'silent',
    isForbidden: false,
    askedMs: 0,
    outageDelayMs: 0,
    isConnectionLoss: false,
    isTooOld: false,
    task: null,
    ...also,
  };
}

export const ACCEPTED = { next: 'accepted', flag: null } as const;
export const UNKNOWN = { next: 'unknown', delayMs: GRACE_MS } as const;
