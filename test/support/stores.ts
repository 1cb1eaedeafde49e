import type { Redis } from 'ioredis';
import { processDeliveries, type ProcessDeliveryTools } from '../../jobs/process-delivery';
import type { ReportCommand } from '../../src/domain/outbox/decide-report';
import {
  type EntryKind,
  isTowingReference,
  isViolationReference,
  type JsonObject,
  type TowingReference,
} from '../../src/domain/vocabulary';
import type { OperationName } from '../../src/contracts/service/operations';
import type { SeenDifference } from '../../src/domain/service/difference';
import type { Verdict } from '../../src/domain/service/policy';
import { towingReference } from '../../src/domain/stored';
import { WEBHOOK_READERS } from '../../src/contracts/webhook/read-webhook';
import { systemClock } from '../../src/platform/clock';
import { silentLog } from '../../src/platform/log/log';
import type { Server } from '../../src/store/redis/connect';
import { createDeliveryStore, createIntake } from '../../src/store/webhook/deliveries';
import { createSchedules } from '../../src/store/outbox/schedules';
import { createTowOutbox } from '../../src/store/outbox/outbox';
import { recordsOf } from '../../src/store/outbox/records';
import { createTaskStore } from '../../src/store/ops/tasks';
import { seenTow } from './seen-records';
import { createTowStore } from '../../src/store/tow/tows';
import { createViolationStore } from '../../src/store/violation/violations';
import type { AttemptResult } from '../../src/domain/outbox/attempt';
import { ACCEPTING, STOPPED } from './exchanges';
import { type ClaimedReport, type TowOutbox, NO_LIMITS } from './outboxes';
import { openConnection, useRedis, type SharedRedis } from './redis';
import { isTransient } from '../../src/store/redis/until-answered';
import { createDeferral } from '../../src/workflow/webhook/defer-delivery';
import { decideReport } from '../../src/workflow/outbox/decide';
import { recordFact } from '../../src/workflow/tow/record-fact';
import { replayDelivery, resumeOperation } from '../../src/workflow/ops/ops-actions';
import { expectDifference } from '../../src/workflow/service/differences';
import { differenceOf } from '../../src/workflow/service/differences';
import { resolveTask } from '../../src/workflow/ops/ops-actions';
import { orderKeyOf, type RecordStore, type IdempotencyRecord } from '../../src/workflow/transaction-port';
import type { FactCommand } from '../../src/domain/tow/fact-command';
import { isKnown, type KnownTow } from '../../src/domain/tow/stored-tow';
import { unobserved } from './unobserved';

/** Short enough to wait for, long enough to be observed on a busy machine, between two commands to Redis. */
export const LEASE_MS = 400;
export const GRACE_MS = 400;
/** Settings of the failure policy that repeat soon. */
export const FAST_RETRIES = {
  retryBaseMs: 10,
  retryCapMs: 100,
  notFoundRetries: 2,
  notFoundRetryMs: 20,
  unknownGraceMs: GRACE_MS,
};

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

/** Stores over one Redis, with the use cases that create tows. */
export type Stores = Awaited<ReturnType<typeof openStores>>;

/** The actor of the tests. */
export const TESTER = { id: 'k1', name: 'tester', role: 'ops' } as const;

/** Opens stores over an empty Redis before each test, and closes them after it. What it returns is used while tests run. */
export function useStores(options: Parameters<typeof openStores>[1] = {}): UsedStores {
  const server = useRedis();
  const stores: Partial<UsedStores> = { server };
  beforeEach(async () => {
    Object.assign(stores, await openStores(server.url, options));
  });
  afterEach(() => stores.close?.());
  if (!areOpenInTests(stores)) throw new Error('no server');
  return stores;
}

type UsedStores = Stores & { readonly server: SharedRedis };
const areOpenInTests = (stores: Partial<UsedStores>): stores is UsedStores => stores.server !== undefined;

export async function openStores(server: Server, { leaseMs = LEASE_MS } = {}) {
  const redis = await openConnection(server);
  const records = recordsOf(redis);
  const tows = createTowStore(redis);
  const deliveries = createDeliveryStore(redis);
  const violations = createViolationStore(redis);
  // Its clock does not move: on a busy machine a group may begin later than a sender would wait for.
  const intake = createIntake(redis, { ...systemClock, monotonicMs: () => 0 });
  const outbox = createTowOutbox(redis, systemClock, { leaseMs, graceMs: GRACE_MS, ...NO_LIMITS });
  // Each call is signed later than the one before.
  let signedAtMs = 1_800_000_000_000;
  const accept = async (kind: 'tow_request' | 'tow_invoice', body: JsonObject, id: string, isSigned = true) => {
    signedAtMs += 1000;
    const towingReferenceId = towingReference.parse(body['towing_reference_id']);
    const rawBody = JSON.stringify(body);
    const call = { id, kind, towingReferenceId, rawBody, verified: true, signatureId: id };
    return intake.accept({ ...call, signedAtMs: isSigned ? signedAtMs : null });
  };
  const tools = deliveryTools(redis);
  const process = async (id: string, others: Partial<ProcessDeliveryTools> = {}) =>
    (await processDeliveries({ delivery_ids: [id] }, { ...tools, ...others })).what;
  const progress = { records, clock: systemClock, rules: RULES } as const;
  return {
    redis,
    records,
    progress,
    tows,
    deliveries,
    violations,
    outbox,
    schedules: createSchedules(redis),
    accept,
    process,
    /** Processes a delivery whose decisions fail. */
    fail: (id: string) => process(id, { records: failing(records) }),
    /** Creates a tow by a processed tow request. */
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
    /** Decides on a report; fails where that is not allowed. */
    async decide(ref: string, reportId: string, command: ReportCommand) {
      const effect = await decideReport(progress, { ref, reportId, command, actor: TESTER });
      if (effect.kind !== 'done') throw new Error(`not decided: ${JSON.stringify(effect)}`);
    },
    /** Replays a delivery; returns its result, or the code of the refusal. */
    async replay(id: string) {
      const effect = await replayDelivery(
        { records, readers: WEBHOOK_READERS },
        { id, actor: TESTER, idempotency: undefined },
      );
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** Closes an information task; returns `done`, or the code of the refusal. */
    /** Declares a kind of difference expected; what was accepted with it is due then. */
    async expect(id: string) {
      const effect = await expectDifference(
        { records },
        { id, reason: 'a test', actor: TESTER, idempotency: undefined },
      );
      if (effect.kind !== 'done') throw new Error(`the difference is ${effect.kind}`);
    },

    /** All open tasks. */
    async generalTasks() {
      return (await createTaskStore(redis).list({ cursor: null, limit: 100 })).items;
    },

    async resolve(id: string, idempotency?: IdempotencyRecord) {
      const tasks = createTaskStore(redis);
      const effect = await resolveTask({ records, tasks }, { id, reason: 'a test', actor: TESTER, idempotency });
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** Resumes a paused operation; returns `done`, or the code of the refusal. */
    async resume(operation: EntryKind) {
      const effect = await resumeOperation(
        { records },
        { operation, reason: 'a test', actor: TESTER, idempotency: undefined },
      );
      return effect.kind === 'refused' ? effect.refusal.code : effect.kind;
    },
    /** Changes a tow without any rule. */
    change: (ref: string, change: (draft: KnownTow, nowMs: number) => void) => changeInStore(redis, ref, change),
    async read(ref: string) {
      const record = await tows.read(ref);
      if (!record) throw new Error('no such tow');
      return seenTow(record);
    },
    async states(ref: string) {
      return (await this.read(ref)).reports.map(({ kind, state }) => `${kind} ${state}`);
    },
    /** When the tow is due, ms since the epoch; null when it waits for a person. */
    async dueAt(ref: string) {
      const score = await redis.zscore('{towhook-main}:due:tows', ref);
      return score === null ? null : Number(score);
    },
    close: () => redis.disconnect(),
  };
}

/** The tools that process deliveries. */
export function deliveryTools(redis: Redis): ProcessDeliveryTools {
  const records = recordsOf(redis);
  return {
    records,
    deliveries: createDeliveryStore(redis),
    readers: WEBHOOK_READERS,
    defer: createDeferral(records, { retryBaseMs: 1000, retryCapMs: 5000 }, isTransient),
    isTransient,
    transientLog: silentLog,
    observe: () => {},
    ...unobserved(),
  };
}

/** Refuses every decision on a tow; a delivery can still be deferred. */
function failing(records: RecordStore): RecordStore {
  return {
    isUnwritten: (error) => records.isUnwritten(error),
    transact: (line, decide) =>
      line?.startsWith('tow ') ? Promise.reject(new Error('played by a test')) : records.transact(line, decide),
  };
}

/** Changes a tow in Redis without any rule. */
export function changeInStore(
  redis: Redis,
  ref: string,
  change: (draft: KnownTow, nowMs: number) => void,
): Promise<void> {
  return recordsOf(redis).transact(orderKeyOf('tow', ref), async (transaction) => {
    const draft = await transaction.tow(ref);
    if (!isKnown(draft)) throw new Error('no such tow');
    change(draft, transaction.nowMs);
  });
}

export function towRequest(ref: string): JsonObject {
  return { violation_reference_id: `V-${ref}`, towing_reference_id: ref, metadata: { id: `own-${ref}` } };
}

export function towInvoice(ref: string, total: number = 345): JsonObject & { readonly towing_reference_id: string } {
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

/** The granted claim; fails otherwise. */
export async function mustClaim(outbox: TowOutbox, ref: string): Promise<ClaimedReport> {
  const claim = await outbox.claim(ref);
  if (claim.kind !== 'send') throw new Error(`expected to send, but: ${JSON.stringify(claim)}`);
  return claim;
}

/** The result of an attempt; by default of one that was accepted or stopped. */
export function result(verdict: Verdict, also: Partial<AttemptResult> = {}): AttemptResult {
  return {
    exchange: verdict.next === 'accepted' ? ACCEPTING : STOPPED,
    verdict,
    startedAt: '2026-01-01T00:00:00.000Z',
    durationMs: 12,
    answer: null,
    rawBody: null,
    acceptedViolation: null,
    isPermitSpent: true,
    outageDelayMs: 0,
    task: null,
    difference: null,
    ...also,
  };
}

/** An answer of the service with this difference, by default a body without `data`. */
export function oddAnswer(
  name: OperationName,
  rules: readonly string[] = ['data: is required (object)'],
): SeenDifference {
  return differenceOf({ source: 'answer', name }, rules, { body: '{"done":true}', isTolerated: false });
}

export const ACCEPTED = { next: 'accepted' } as const;
export const UNKNOWN = { next: 'unknown', delayMs: GRACE_MS } as const;
