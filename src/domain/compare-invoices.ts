import type { Entry } from './entry';
import { reconcile, type Charges } from './invoice';
import { closeTask, openTask, type StoredTow } from './outbox-record';
import { invoiceMismatchTask } from './tasks';
import type { JsonObject } from './vocabulary';

/** The charges that the service answered to our invoice request; null when its answer carries none. */
export function answeredCharges(answer: JsonObject | null): Charges | null {
  const towingInvoice = objectIn(answer, 'towing_invoice');
  return towingInvoice && { towingInvoice, delayInvoice: objectIn(answer, 'delay_invoice') };
}

/** Compares the answered invoice with the newest posted one, if that came first, and opens a task where they differ. */
export function compareInvoices(record: StoredTow, entry: Entry, nowMs: number): void {
  const answer = entry.kind === 'invoice' ? answeredCharges(entry.answer) : null;
  const posted = record.tow?.invoiceWebhooks.at(-1);
  if (!answer || !posted) return;
  const fields = reconcile(answer, posted).map(({ field }) => field);
  if (fields.length > 0) openTask(record, invoiceMismatchTask(fields), nowMs);
}

/** Compares a posted invoice with the answered one: a task is opened where they differ, and closed where they agree. */
export function comparePosted(
  record: StoredTow,
  posted: { readonly webhook: Charges; readonly alsoDiffers: readonly string[] },
  nowMs: number,
): void {
  const report = record.entries.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const answer = answeredCharges(report?.answer ?? null);
  const differing = answer ? reconcile(answer, posted.webhook).map(({ field }) => field) : [];
  const fields = [...posted.alsoDiffers, ...differing];
  if (fields.length > 0) openTask(record, invoiceMismatchTask(fields), nowMs);
  else if (answer) closeTask(record, `invoice_mismatch.${record.ref}`);
}

function objectIn(value: JsonObject | null, name: string): JsonObject | null {
  const found = value?.[name];
  return typeof found === 'object' && found !== null && !Array.isArray(found) ? found : null;
}
