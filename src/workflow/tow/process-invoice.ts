import { storedObject } from '../../domain/stored';
import type { InvoiceMessage } from '../../contracts/webhook/read-webhook';
import { comparePosted, comparePostedTwice } from '../../domain/tow/invoice-entries';
import { parkDelivery, settleDelivery, type Delivery } from '../../domain/webhook/delivery';
import { lateInvoiceTask, parkedInvoiceTask } from '../../domain/ops/tasks';
import { closeTask, addEvent, openTask, type StoredTow } from '../../domain/outbox/outbox-record';
import { isKnown, withInvoice, type KnownTow } from '../../domain/tow/stored-tow';
import { isoTimestamp } from '../../domain/timestamp';
import type { InvoiceWebhook } from '../../domain/tow/tow';
import type { Transaction } from '../transaction-port';

export type InvoiceVerdict = 'attached' | 'parked' | 'set_aside' | 'late';

/** Attaches the invoice of a delivery to its tow, or parks it: keeps the delivery until its tow is requested. */
export async function processInvoice(
  transaction: Transaction,
  { delivery, invoice }: { readonly delivery: Delivery; readonly invoice: InvoiceMessage },
  draft: StoredTow,
): Promise<InvoiceVerdict> {
  const { nowMs } = transaction;
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
  const { verdict, runAtMs } = parkDelivery(delivery, draft, nowMs);
  transaction.scheduleDelivery(delivery.id, runAtMs);
  return verdict;
}

function attach(draft: KnownTow, delivery: Delivery, invoice: InvoiceMessage, nowMs: number): void {
  closeTask(draft, parkedInvoiceTask.subject);
  const { tow } = draft;
  // The tow may have dropped a replayed delivery since it was attached.
  const isAttached =
    delivery.verdict === 'attached' || tow.invoiceWebhooks.some(({ deliveryId }) => deliveryId === delivery.id);
  // A replayed invoice opens no task again.
  if (isAttached) return;
  const webhook: InvoiceWebhook = {
    deliveryId: delivery.id,
    receivedAt: isoTimestamp(delivery.receivedAtMs),
    ...(delivery.signedAtMs === null ? {} : { signedAt: isoTimestamp(delivery.signedAtMs) }),
    towingInvoice: storedObject.parse(invoice.towing_invoice),
    delayInvoice: invoice.delay_invoice ? storedObject.parse(invoice.delay_invoice) : null,
  };
  const before = tow.invoiceWebhooks.at(-1);
  if (before) comparePostedTwice(draft, [before, webhook], nowMs);
  const invoiceWebhooks = withInvoice(tow.invoiceWebhooks, webhook);
  draft.tow = { ...tow, invoiceWebhooks };
  addEvent(draft, { type: 'invoice.attached', delivery_id: delivery.id }, nowMs);
  // The newest one counts, and was compared when it was attached.
  if (invoiceWebhooks.at(-1) !== webhook) return;
  const named = invoice.violation_reference_id ?? null;
  const namesOtherViolation = named !== null && named !== tow.violationReferenceId;
  comparePosted(draft, { webhook, alsoDiffers: namesOtherViolation ? ['violation_reference_id'] : [] }, nowMs);
}
