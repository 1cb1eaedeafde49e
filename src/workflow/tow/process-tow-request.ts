import type { TowRequestMessage } from '../../contracts/webhook/read-webhook';
import { canonicalJson } from '../../domain/json';
import { settleDelivery, type Delivery } from '../../domain/webhook/delivery';
import { NO_DISPATCH } from '../../domain/tow/dispatch';
import { lateRequestTask, rivalRequestTask } from '../../domain/ops/tasks';
import { addEvent, openTask, type StoredTow } from '../../domain/outbox/outbox-record';
import { isKnown, withNewest, type KnownTow } from '../../domain/tow/stored-tow';
import { isoTimestamp } from '../../domain/timestamp';
import { whereaboutsBy, type Tow } from '../../domain/tow/tow';
import { matchRequestedTow, type NamedViolation } from '../violation/match-violation';
import { holdUnlessLive } from '../outbox/service-mode';
import type { Transaction } from '../transaction-port';

export type RequestVerdict = 'created' | 'already_known' | 'rival_kept' | 'late';

/** What is known about a requested tow before it is made. */
export interface RequestOrigin {
  readonly named: NamedViolation | null;
  /** True when the tow was archived and its marker still exists. */
  readonly isArchived: boolean;
}

/**
 * Creates the requested tow and matches its violation; or records that the request is a repetition or late. Parked
 * deliveries of the tow become due.
 */
export async function processTowRequest(
  transaction: Transaction,
  {
    delivery,
    request,
    origin: { named, isArchived },
  }: {
    readonly delivery: Delivery;
    readonly request: TowRequestMessage;
    readonly origin: RequestOrigin;
  },
  draft: StoredTow,
): Promise<RequestVerdict> {
  const { nowMs } = transaction;
  if (isKnown(draft)) {
    const verdict = handleRepetition(draft, delivery, request, nowMs);
    settleDelivery(delivery, draft, verdict, nowMs);
    return verdict;
  }
  const requested = requestedTow(delivery, request);
  const matched = named && matchRequestedTow(transaction, named, requested);
  for (const task of matched?.tasks ?? []) openTask(draft, task, nowMs);
  if (isArchived) {
    settleDelivery(delivery, draft, 'late', nowMs);
    openTask(draft, lateRequestTask(delivery.id, request.violation_reference_id), nowMs);
    return 'late';
  }
  draft.tow = matched?.tow ?? requested;
  draft.requestedAtMs = delivery.receivedAtMs;
  await holdUnlessLive(transaction, draft);
  const about = named ? { violation_id: named.violation.id } : {};
  addEvent(draft, { type: 'tow.requested', delivery_id: delivery.id, ...about }, nowMs);
  // All are due, the one that was parked first before the others.
  const firstAtMs = nowMs - draft.parked.length;
  for (const [index, { id }] of draft.parked.entries()) transaction.scheduleDelivery(id, firstAtMs + index);
  draft.parked = [];
  settleDelivery(delivery, draft, 'created', nowMs);
  return 'created';
}

/** Handles a request for a known tow: the first one counts, and a different one is kept for review. */
function handleRepetition(
  draft: KnownTow,
  delivery: Delivery,
  request: TowRequestMessage,
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
  addEvent(draft, { type: 'request.rival_kept', delivery_id: delivery.id }, nowMs);
  openTask(draft, rivalRequestTask, nowMs);
  return 'rival_kept';
}

function requestedTow(delivery: Delivery, request: TowRequestMessage): Tow {
  return {
    state: 'requested',
    towingReferenceId: request.towing_reference_id,
    violationReferenceId: request.violation_reference_id,
    metadata: request.metadata ?? null,
    requestedAt: receivedAt(delivery),
    ...whereaboutsBy(() => null),
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
  return isoTimestamp(receivedAtMs);
}
