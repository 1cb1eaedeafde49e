import type { Delivery } from '../contracts/records';
import {
  storedTowInvoice,
  storedTowRequest,
  type StoredTowInvoice,
  type StoredTowRequest,
} from '../contracts/webhooks';
import { storedObject } from '../contracts/stored';
import { canonicalJson } from '../domain/canonical';
import { NO_DISPATCH } from '../domain/dispatch';
import { lateInvoiceTask, lateRequestTask } from '../domain/late-tasks';
import { searchTerms } from '../domain/search';
import { parkedInvoiceTask, rivalRequestTask } from '../domain/tasks';
import type { DeliveryKind } from '../domain/vocabulary';
import type { InvoiceWebhook, RivalRequest, Tow } from '../domain/tow';
import { violationOf, withViolation, type JoinTools } from './join';
import type { DeliveryStore, TowStore, Wake } from './ports';
import { mismatchTasks } from './reconcile';
import { untilFresh } from './retry-stale';
import { noChange } from './tow-change';

/** What processing a delivery came to; `settled_before`: another worker did it, before or meanwhile. */
export type IntakeVerdict =
  'created' | 'already_known' | 'rival_kept' | 'attached' | 'parked' | 'set_aside' | 'late' | 'settled_before' | 'gone';

/** What a delivery was and what it came to; kind and tow are null when it is gone. */
export interface IntakeResult {
  readonly verdict: IntakeVerdict;
  readonly kind: DeliveryKind | null;
  readonly towingReferenceId: string | null;
  /** How long ago it had been received when it was read, ms; null unless this was the first time it was processed. */
  readonly sinceReceivedMs: number | null;
}

export interface IntakeTools {
  readonly tows: TowStore;
  readonly deliveries: DeliveryStore;
  readonly violations: JoinTools['violations'];
  readonly wake: Wake;
}

const PARKED_TASK_AFTER_MS = 24 * 3_600_000;
/** Invoice webhooks, and rival requests, that are kept in the record of a tow; all of them stay deliveries. */
const WEBHOOKS_KEPT = 20;

/** Turns one stored delivery into what it means for its tow. Doing it twice is doing it once. */
export async function processDelivery(tools: IntakeTools, deliveryId: string): Promise<IntakeResult> {
  const delivery = await tools.deliveries.read(deliveryId);
  if (!delivery) return { verdict: 'gone', kind: null, towingReferenceId: null, sinceReceivedMs: null };
  const { kind, towingReferenceId, readAtMs, receivedAtMs } = delivery;
  const isFirst = delivery.state === 'waiting' && delivery.parkedAtMs === null && delivery.replays === 0;
  const verdict = await verdictOn(tools, delivery);
  // Of several workers that took it at the same moment, one has processed it.
  const sinceReceivedMs = isFirst && verdict !== 'settled_before' ? readAtMs - receivedAtMs : null;
  return { verdict, kind, towingReferenceId, sinceReceivedMs };
}

async function verdictOn(tools: IntakeTools, delivery: Delivery): Promise<IntakeVerdict> {
  if (delivery.state === 'processed') return 'settled_before';
  const body: unknown = JSON.parse(delivery.rawBody);
  switch (delivery.kind) {
    case 'tow_request': {
      const request = storedTowRequest.parse(body);
      return untilFresh(() => takeTowRequest(tools, delivery, request));
    }
    case 'tow_invoice': {
      const invoice = storedTowInvoice.parse(body);
      return untilFresh(() => takeInvoice(tools, delivery, invoice));
    }
  }
}

async function takeTowRequest(
  tools: IntakeTools,
  delivery: Delivery,
  request: StoredTowRequest,
): Promise<IntakeVerdict | 'stale'> {
  const record = await tools.tows.read(request.towing_reference_id);
  if (!record) {
    const requested = requestedTow(delivery, request);
    const join = await violationOf(requested, tools.violations);
    const tow = join ? withViolation(requested, join.violation) : requested;
    const { kind, unparked } = await tools.tows.create(tow, {
      deliveryId: delivery.id,
      searchTerms: searchTerms(tow),
      timeline: {
        type: 'tow.requested',
        delivery_id: delivery.id,
        ...(join ? { violation_id: join.violation.id } : {}),
      },
      openTasks: join?.tasks ?? [],
      lateTask: lateRequestTask(delivery.id, request.violation_reference_id),
    });
    unparked.forEach((id) => tools.wake.delivery(id));
    return kind === 'exists' || kind === 'found' ? 'stale' : kind;
  }
  const { tow } = record;
  const isKnown = [tow, ...tow.rivalRequests].some(
    (known) =>
      known.violationReferenceId === request.violation_reference_id &&
      canonicalJson(known.metadata) === canonicalJson(request.metadata ?? null),
  );
  const verdict = isKnown ? 'already_known' : 'rival_kept';
  const change = isKnown ? noChange(tow) : withRival(tow, rivalOf(delivery, request));
  const saved = await tools.tows.save(record, { ...change, delivery: { id: delivery.id, verdict } });
  if (saved.kind !== 'saved') return 'stale';
  return saved.hasSettled ? verdict : 'settled_before';
}

async function takeInvoice(
  tools: IntakeTools,
  delivery: Delivery,
  invoice: StoredTowInvoice,
): Promise<IntakeVerdict | 'stale'> {
  const ref = invoice.towing_reference_id;
  const record = await tools.tows.read(ref);
  // Open question Q13: the order of webhooks is not documented; an invoice may come before its tow request.
  if (!record) {
    const lateTask = lateInvoiceTask(delivery.id);
    const asking = { afterMs: PARKED_TASK_AFTER_MS, task: parkedInvoiceTask, lateTask };
    const kind = await tools.tows.park(ref, delivery.id, asking);
    return kind === 'exists' ? 'stale' : kind;
  }
  const { tow } = record;
  // A replayed delivery may have left the record since it was attached.
  const isAttached =
    delivery.verdict === 'attached' || tow.invoiceWebhooks.some(({ deliveryId }) => deliveryId === delivery.id);
  const attached = invoiceWebhookOf(delivery, invoice);
  const after: Tow = isAttached ? tow : { ...tow, invoiceWebhooks: withNewest(tow.invoiceWebhooks, attached) };
  const namesOtherViolation = invoice.violation_reference_id !== tow.violationReferenceId;
  const comparison = mismatchTasks(
    { ...record, tow: after },
    { webhook: attached, alsoDiffers: namesOtherViolation ? ['violation_reference_id'] : [] },
  );
  const saved = await tools.tows.save(record, {
    ...noChange(after),
    timeline: isAttached ? [] : [{ type: 'invoice.attached', delivery_id: delivery.id }],
    // Said again, an old invoice raises no new question.
    openTasks: isAttached ? [] : comparison.tasks,
    closeTasks: [`${parkedInvoiceTask.subject}.${ref}`, ...(isAttached ? [] : comparison.closes)],
    searchTerms: searchTerms(after),
    delivery: { id: delivery.id, verdict: 'attached' },
  });
  if (saved.kind !== 'saved') return 'stale';
  tools.wake.tow(ref);
  return saved.hasSettled ? 'attached' : 'settled_before';
}

function requestedTow(delivery: Delivery, request: StoredTowRequest): Tow {
  return {
    state: 'requested',
    towingReferenceId: request.towing_reference_id,
    violationReferenceId: request.violation_reference_id,
    metadata: request.metadata ?? null,
    requestedAt: iso(delivery.receivedAtMs),
    plateNumber: null,
    towedLocation: null,
    latitude: null,
    longitude: null,
    facts: [],
    invoiceRequest: null,
    payments: [],
    invoiceWebhooks: [],
    rivalRequests: [],
    violationId: null,
    zoneId: null,
    violationType: null,
    dispatch: NO_DISPATCH,
  };
}

function withRival(tow: Tow, rival: RivalRequest) {
  return {
    ...noChange({ ...tow, rivalRequests: withNewest(tow.rivalRequests, rival) }),
    timeline: [{ type: 'request.rival_kept', delivery_id: rival.deliveryId }],
    openTasks: [rivalRequestTask],
  };
}

/** Bounds what one tow collects: every change of a tow reads and writes all of it. */
function withNewest<T>(kept: readonly T[], newest: T): T[] {
  return [...kept, newest].slice(-WEBHOOKS_KEPT);
}

function rivalOf(delivery: Delivery, request: StoredTowRequest): RivalRequest {
  return {
    deliveryId: delivery.id,
    receivedAt: iso(delivery.receivedAtMs),
    violationReferenceId: request.violation_reference_id,
    metadata: request.metadata ?? null,
  };
}

function invoiceWebhookOf(delivery: Delivery, invoice: StoredTowInvoice): InvoiceWebhook {
  return {
    deliveryId: delivery.id,
    receivedAt: iso(delivery.receivedAtMs),
    towingInvoice: storedObject.parse(invoice.towing_invoice),
    delayInvoice: invoice.delay_invoice ? storedObject.parse(invoice.delay_invoice) : null,
  };
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
