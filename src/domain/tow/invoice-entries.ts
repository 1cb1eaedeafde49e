import type { Entry } from '../outbox/entry';
import { answeredCharges, type Charges, lessPaid, reconcile } from './charges';
import { closeTask, openTask, type StoredTow } from '../outbox/outbox-record';
import { invoiceMismatchTask, invoiceOrderTask } from '../ops/tasks';
import type { InvoiceWebhook } from './tow';

/** What an invoice webhook shows about the report that requested the invoice: proof, or other amounts. */

/**
 * True when an invoice webhook proves that the first create took effect: it came after that create was sent. The
 * first create deletes the mark of any earlier webhook in a commit on the version that the webhook raises, so no
 * clock decides the order.
 */
export function isProvedByInvoice(record: StoredTow, entry: Entry): boolean {
  if (entry.kind !== 'invoice' || entry.firstSentAtMs === null || record.proofAtMs === null) return false;
  // A refused create made nothing. An unanswered attempt before it may have.
  return entry.state !== 'refused' || entry.possibleEffects > 0;
}

/** True if the signed times of two invoice webhooks show which one is newer. */
function isOrderSigned(one: InvoiceWebhook, other: InvoiceWebhook): boolean {
  return one.signedAt !== undefined && other.signedAt !== undefined && one.signedAt !== other.signedAt;
}

/** Positive if the first webhook is newer than the second: by their signed times, else by their receipt. */
export function compareAge(one: InvoiceWebhook, other: InvoiceWebhook): number {
  const ageOf = ({ signedAt, receivedAt }: InvoiceWebhook) =>
    Date.parse(isOrderSigned(one, other) ? (signedAt ?? receivedAt) : receivedAt);
  return ageOf(one) - ageOf(other);
}

/**
 * Opens a task when two invoice webhooks differ and no signed times show which one is newer, or when the newer one shows
 * less paid: a sender that signs a repeated call again makes an old one look new.
 */
export function comparePostedTwice(
  record: StoredTow,
  [one, other]: readonly [InvoiceWebhook, InvoiceWebhook],
  nowMs: number,
): void {
  const fields = isOrderSigned(one, other)
    ? lessPaid(...(compareAge(one, other) < 0 ? ([one, other] as const) : ([other, one] as const)))
    : reconcile(one, other);
  if (fields.length > 0) openTask(record, invoiceOrderTask(fields), nowMs);
}

/** Compares the answered invoice with the newest posted one, if there is one. Opens a task where they differ. */
export function compareInvoices(record: StoredTow, entry: Entry, nowMs: number): void {
  const answer = entry.kind === 'invoice' ? answeredCharges(entry.answer) : null;
  const posted = record.tow?.invoiceWebhooks.at(-1);
  if (!answer || !posted) return;
  const fields = reconcile(answer, posted, record.tow?.payments);
  if (fields.length > 0) openTask(record, invoiceMismatchTask(fields), nowMs);
}

/** Compares a posted invoice with the answered one. Opens a task where they differ; closes it where they agree. */
export function comparePosted(
  record: StoredTow,
  posted: { readonly webhook: Charges; readonly alsoDiffers: readonly string[] },
  nowMs: number,
): void {
  const report = record.entries.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const answer = answeredCharges(report?.answer ?? null);
  const differing = answer ? reconcile(answer, posted.webhook, record.tow?.payments) : [];
  const fields = [...posted.alsoDiffers, ...differing];
  if (fields.length > 0) openTask(record, invoiceMismatchTask(fields), nowMs);
  else if (answer) closeTask(record, invoiceMismatchTask(fields).subject);
}
