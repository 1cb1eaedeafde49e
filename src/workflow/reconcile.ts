import type { TowRecord } from '../contracts/records';
import { storedObject } from '../contracts/stored';
import { reconcile, type Charges } from '../domain/invoice';
import { invoiceMismatchTask, type NewTask } from '../domain/tasks';
import type { TowStore } from './ports';
import { untilFresh } from './retry-stale';
import { noChange } from './tow-change';

/** Compares the invoice answered to us with the newest one posted to us, and opens a task where they differ. */
export async function reconcileInvoices(tows: TowStore, ref: string): Promise<'compared' | 'gone'> {
  return untilFresh(async () => {
    const record = await tows.read(ref);
    if (!record) return 'gone';
    const webhook = record.tow.invoiceWebhooks.at(-1) ?? null;
    // Nothing is closed here: before the answer a task can only have been about something else than amounts.
    const { tasks } = mismatchTasks(record, { webhook, alsoDiffers: [] });
    const change = { ...noChange(record.tow), openTasks: tasks, reconciled: true };
    const saved = await tows.save(record, change);
    return saved.kind === 'saved' ? 'compared' : 'stale';
  });
}

/** The task to open when answer and webhook differ, or to close when they agree; not `compared` while one is missing. */
export function mismatchTasks(
  record: TowRecord,
  posted: { webhook: Charges | null; alsoDiffers: readonly string[] },
): { compared: boolean; tasks: NewTask[]; closes: string[] } {
  const answer = answeredInvoice(record);
  const differing = answer && posted.webhook ? reconcile(answer, posted.webhook).map(({ field }) => field) : [];
  const fields = [...posted.alsoDiffers, ...differing];
  const compared = answer !== null && posted.webhook !== null;
  const tasks = fields.length > 0 ? [invoiceMismatchTask(fields)] : [];
  const agree = compared && tasks.length === 0;
  return { compared, tasks, closes: agree ? [`invoice_mismatch.${record.tow.towingReferenceId}`] : [] };
}

/** The charges the service answered to our invoice request; null before that, or when the answer broke its contract. */
export function answeredInvoice(record: TowRecord): (Charges & { receivedAtMs: number }) | null {
  const report = record.reports.find(({ kind, answer }) => kind === 'invoice' && answer !== null);
  const towing = storedObject.safeParse(report?.answer?.['towing_invoice']);
  if (!report || !towing.success) return null;
  const delay = storedObject.safeParse(report.answer?.['delay_invoice']);
  return {
    towingInvoice: towing.data,
    delayInvoice: delay.success ? delay.data : null,
    receivedAtMs: report.deliveredAtMs ?? record.readAtMs,
  };
}
