import type { TowRecord } from '../contracts/records';
import { answeredCharges } from '../domain/compare-invoices';
import { reconcile, type Charges } from '../domain/invoice';
import { invoiceMismatchTask, type NewTask } from '../domain/tasks';

/** The task to open when answer and webhook differ, or to close when they agree; nothing while one is missing. */
export function mismatchTasks(
  record: TowRecord,
  posted: { webhook: Charges | null; alsoDiffers: readonly string[] },
): { tasks: NewTask[]; closes: string[] } {
  const answer = answeredInvoice(record);
  const differing = answer && posted.webhook ? reconcile(answer, posted.webhook).map(({ field }) => field) : [];
  const fields = [...posted.alsoDiffers, ...differing];
  const compared = answer !== null && posted.webhook !== null;
  const tasks = fields.length > 0 ? [invoiceMismatchTask(fields)] : [];
  const agree = compared && tasks.length === 0;
  return { tasks, closes: agree ? [`invoice_mismatch.${record.tow.towingReferenceId}`] : [] };
}

/** The charges the service answered to our invoice request; null before that, or when the answer broke its contract. */
export function answeredInvoice(record: TowRecord): (Charges & { receivedAtMs: number }) | null {
  const report = record.reports.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const charges = answeredCharges(report?.answer ?? null);
  return report && charges ? { ...charges, receivedAtMs: report.deliveredAtMs ?? record.readAtMs } : null;
}
