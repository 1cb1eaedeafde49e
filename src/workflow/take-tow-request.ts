import { storedTowRequest, type StoredTowRequest } from '../contracts/webhooks';
import { canonicalJson } from '../domain/canonical';
import { settleDelivery, type Delivery } from '../domain/delivery';
import { NO_DISPATCH } from '../domain/dispatch';
import { lateRequestTask } from '../domain/late-tasks';
import { noteEvent, openTask, type StoredTow } from '../domain/outbox-record';
import { isKnown, withNewest, type KnownTow } from '../domain/stored-tow';
import { rivalRequestTask } from '../domain/tasks';
import type { Tow } from '../domain/tow';
import { findViolation, joinRequested } from './join';
import type { Transaction } from './transaction-port';

/** What a tow request led to, and the deliveries that waited for it and are due now. */
export interface TakenRequest {
  readonly verdict: 'created' | 'already_known' | 'rival_kept' | 'late';
  readonly unparked: readonly string[];
}

/** Makes the tow that a delivery requests, joined with its violation; or notes that the request came again, or too late. */
export async function takeTowRequest(
  transaction: Transaction,
  delivery: Delivery,
  draft: StoredTow,
): Promise<TakenRequest> {
  const { nowMs } = transaction;
  const request = storedTowRequest.parse(JSON.parse(delivery.rawBody));
  if (isKnown(draft)) {
    const verdict = takeAgain(draft, delivery, request, nowMs);
    settleDelivery(delivery, draft, verdict, nowMs);
    return { verdict, unparked: [] };
  }
  const requested = requestedTow(delivery, request);
  const violation = await findViolation(transaction, requested);
  const joined = violation && joinRequested(transaction, violation, requested);
  if (await transaction.isArchived(draft.ref)) {
    settleDelivery(delivery, draft, 'late', nowMs);
    openTask(draft, lateRequestTask(delivery.id, request.violation_reference_id), nowMs);
    return { verdict: 'late', unparked: [] };
  }
  draft.tow = joined?.tow ?? requested;
  draft.requestedAtMs = delivery.receivedAtMs;
  const about = violation ? { violation_id: violation.id } : {};
  noteEvent(draft, { type: 'tow.requested', delivery_id: delivery.id, ...about }, nowMs);
  for (const task of joined?.tasks ?? []) openTask(draft, task, nowMs);
  const unparked = draft.parked.map(({ id }) => id);
  draft.parked = [];
  for (const id of unparked) transaction.scheduleDelivery(id, nowMs);
  settleDelivery(delivery, draft, 'created', nowMs);
  return { verdict: 'created', unparked };
}

/** Another request for a tow that is known: the first one counts, and one that differs is kept for a person. */
function takeAgain(
  draft: KnownTow,
  delivery: Delivery,
  request: StoredTowRequest,
  nowMs: number,
): 'already_known' | 'rival_kept' {
  const { tow } = draft;
  const { violation_reference_id: violationReferenceId, metadata = null } = request;
  const isSame = [tow, ...tow.rivalRequests].some(
    (known) =>
      known.violationReferenceId === violationReferenceId && canonicalJson(known.metadata) === canonicalJson(metadata),
  );
  if (isSame) return 'already_known';
  const rival = { deliveryId: delivery.id, receivedAt: receivedAt(delivery), violationReferenceId, metadata };
  draft.tow = { ...tow, rivalRequests: withNewest(tow.rivalRequests, rival) };
  noteEvent(draft, { type: 'request.rival_kept', delivery_id: delivery.id }, nowMs);
  openTask(draft, rivalRequestTask, nowMs);
  return 'rival_kept';
}

function requestedTow(delivery: Delivery, request: StoredTowRequest): Tow {
  return {
    state: 'requested',
    towingReferenceId: request.towing_reference_id,
    violationReferenceId: request.violation_reference_id,
    metadata: request.metadata ?? null,
    requestedAt: receivedAt(delivery),
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

function receivedAt({ receivedAtMs }: Delivery): string {
  return new Date(receivedAtMs).toISOString();
}
