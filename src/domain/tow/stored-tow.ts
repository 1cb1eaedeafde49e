import { newEntry, type Entry } from '../outbox/entry';
import { editEntry, type StoredTow } from '../outbox/outbox-record';
import { isReport, type ReportEntry } from '../outbox/outbox';
import { isWaitingForPermit, permitRankOf } from '../outbox/outbox-schedule';
import type { Owed } from './report-bodies';
import { compareAge } from './invoice-entries';
import type { InvoiceWebhook, Tow } from './tow';
import { REPORT_KINDS, type ReportKind, type ReportState, type WithheldState } from '../vocabulary';

/** A tow whose request has come and that is not archived. */
export type KnownTow = StoredTow & { tow: Tow };

/** False while no tow request has come: the record has parked invoices and tasks at most. */
export function isKnown(record: StoredTow): record is KnownTow {
  return record.tow !== null;
}

/** Other software reported what is waived of a declined tow: it counts as if it had been accepted here. */
function countedState(state: ReportState, withheld: WithheldState | null): ReportState {
  return withheld === 'declined' && state === 'waived' ? 'accepted' : state;
}

/** The reports of a tow, as the rules of facts count them. */
export function reportsOf({ entries, withheld }: StoredTow): Readonly<ReportEntry>[] {
  return entries.filter(isReport).map((report) => ({ ...report, state: countedState(report.state, withheld) }));
}

/** Appends a report to the outbox, due now. */
export function appendReport(record: StoredTow, { kind, body }: Owed, nowMs: number): void {
  const seq = record.entries.length + 1;
  const rankMs = permitRankOf(record, nowMs);
  record.entries.push(newEntry({ seq, id: `${kind}-${seq}`, kind, body, nowMs }));
  // Only a claim moves a record in the waiting queue. It must not wait for the time of the old place.
  if (isWaitingForPermit(record) && permitRankOf(record, nowMs) < rankMs) record.runAtMs = null;
}

/** The kind of a report by its id; null for an id that is not of a report. */
export function kindOfReport(id: string | null | undefined): ReportKind | null {
  return REPORT_KINDS.find((kind) => kind === id?.split('-')[0]) ?? null;
}

/** How many invoice webhooks and rival requests a tow keeps; all of them stay deliveries. */
const WEBHOOKS_KEPT = 20;

/** Appends to a bounded list: every change of a tow reads and writes all of it. */
export function withNewest<T>(kept: readonly T[], newest: T): T[] {
  return [...kept, newest].slice(-WEBHOOKS_KEPT);
}

/** Adds an invoice webhook after those that are older, since they are processed in any order: the last one counts. */
export function withInvoice(kept: readonly InvoiceWebhook[], added: InvoiceWebhook): InvoiceWebhook[] {
  const older = kept.findLastIndex((known) => compareAge(added, known) >= 0) + 1;
  return kept.toSpliced(older, 0, added).slice(-WEBHOOKS_KEPT);
}

/** Returns the report of this id for editing. Throws when there is none. */
export function editEntryNamed(record: StoredTow, id: string): Entry {
  const entry = record.entries.find((known) => known.id === id);
  if (!entry) throw new Error(`no report ${id} on this tow`);
  return editEntry(record, entry);
}
