import { storedObject } from '../contracts/stored';
import { storedTowInvoice, type StoredTowInvoice } from '../contracts/webhooks';
import { comparePosted } from '../domain/compare-invoices';
import { parkDelivery, settleDelivery, type Delivery } from '../domain/delivery';
import { lateInvoiceTask } from '../domain/late-tasks';
import { closeTask, noteEvent, openTask, type StoredTow } from '../domain/outbox-record';
import { isKnown, withNewest, type KnownTow } from '../domain/stored-tow';
import { parkedInvoiceTask } from '../domain/tasks';
import type { InvoiceWebhook } from '../domain/tow';
import type { Transaction } from './transaction-port';

/** Attaches the invoice of a delivery to its tow; parks it while the tow is not known. */
export async function takeInvoice(
  transaction: Transaction,
  delivery: Delivery,
  draft: StoredTow,
): Promise<'attached' | 'parked' | 'set_aside' | 'late'> {
  const { nowMs } = transaction;
  const invoice = storedTowInvoice.parse(JSON.parse(delivery.rawBody));
  if (isKnown(draft)) {
    attach(draft, delivery, invoice, nowMs);
    settleDelivery(delivery, draft, 'attached', nowMs);
    return 'attached';
  }
  if (await transaction.isArchived(draft.ref)) {
    settleDelivery(delivery, draft, 'late', nowMs);
    openTask(draft, lateInvoiceTask(delivery.id), nowMs);
    return 'late';
  }
  // Open question Q13: the order of webhooks is not documented; an invoice may come before its tow request.
  const { verdict, lookAtMs } = parkDelivery(delivery, draft, nowMs);
  transaction.scheduleDelivery(delivery.id, lookAtMs);
  return verdict;
}

function attach(draft: KnownTow, delivery: Delivery, invoice: StoredTowInvoice, nowMs: number): void {
  closeTask(draft, `${parkedInvoiceTask.subject}.${draft.ref}`);
  const { tow } = draft;
  // A replayed delivery may have left the record since it was attached.
  const isAttached =
    delivery.verdict === 'attached' || tow.invoiceWebhooks.some(({ deliveryId }) => deliveryId === delivery.id);
  // An old invoice that is replayed raises no new question.
  if (isAttached) return;
  const webhook: InvoiceWebhook = {
    deliveryId: delivery.id,
    receivedAt: new Date(delivery.receivedAtMs).toISOString(),
    towingInvoice: storedObject.parse(invoice.towing_invoice),
    delayInvoice: invoice.delay_invoice ? storedObject.parse(invoice.delay_invoice) : null,
  };
  draft.tow = { ...tow, invoiceWebhooks: withNewest(tow.invoiceWebhooks, webhook) };
  noteEvent(draft, { type: 'invoice.attached', delivery_id: delivery.id }, nowMs);
  const namesOtherViolation = invoice.violation_reference_id !== tow.violationReferenceId;
  comparePosted(draft, { webhook, alsoDiffers: namesOtherViolation ? ['violation_reference_id'] : [] }, nowMs);
}
