import type { WebhookReaders } from '../../contracts/webhook/read-webhook';
import type { EntryKind } from '../../domain/vocabulary';
import { type Actor, auditOf } from '../../domain/ops/audit';
import { endPause } from '../../domain/service/circuits';
import { reopenDelivery } from '../../domain/webhook/delivery';
import { conflict, unknown } from '../../domain/refusal';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import { CIRCUITS_ORDER_KEY, type IdempotencyRecord, orderKeyOf, type RecordStore } from '../transaction-port';
import { type DeliveryDetail, deliveryDetailOf } from '../tow/views';

export interface ReplayRequest {
  readonly id: string;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

const noSuchDelivery = unknown('delivery_not_found', 'There is no such delivery.').refusal;

/** Makes a delivery due again, processed or not. */
export function replayDelivery(
  { records, readers }: { readonly records: RecordStore; readonly readers: WebhookReaders },
  { id, actor, idempotency }: ReplayRequest,
): Promise<ActionResult<DeliveryDetail>> {
  return transactOnce(records, { orderKey: orderKeyOf('delivery', id), idempotency }, async (transaction) => {
    const delivery = await transaction.delivery(id);
    if (!delivery) return refused(noSuchDelivery);
    reopenDelivery(delivery);
    transaction.scheduleDelivery(id, transaction.nowMs);
    const on = { delivery_id: id, towing_reference_id: delivery.towingReferenceId };
    transaction.audit(auditOf(actor, 'delivery.replayed', { on }));
    return done(deliveryDetailOf(delivery, readers));
  });
}

export interface ResumeRequest {
  readonly operation: EntryKind;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

const notPaused = conflict('operation_not_paused', 'The operation is not paused.').refusal;

/** Ends the pause of an operation by hand. */
export function resumeOperation(
  { records }: { records: RecordStore },
  { operation, reason, actor, idempotency }: ResumeRequest,
): Promise<ActionResult> {
  return transactOnce<null>(records, { orderKey: CIRCUITS_ORDER_KEY, idempotency }, async (transaction) => {
    const circuits = await transaction.circuits({ isFresh: true });
    if (!endPause(circuits, operation, transaction.circuitEffects)) return refused(notPaused);
    transaction.audit(auditOf(actor, 'operation.resumed', { on: { operation }, why: reason }));
    return done(null);
  });
}
