import { alsoWaived, type AuditEntry } from '../ops/audit';
import { correct, type Correction } from './correct';
import { decideOn, type DecisionContext, type EntryDecision } from './decide-entry';
import type { Entry } from './entry';
import type { TowRules } from '../tow/fact-command';
import { editEntry, addEvent } from './outbox-record';
import { unknown, type Decision } from '../refusal';
import { waiveEntry } from './settle-entry';
import { reportsOf, type KnownTow } from '../tow/stored-tow';
import { keepRecordings } from '../tow/timeline';
import type { JsonObject } from '../vocabulary';

export type ReportCommand = EntryDecision<{ readonly fields: Correction }>;

/** A corrected time must not lie in the future of the clock. */
export interface ReportContext extends DecisionContext {
  readonly rules: TowRules;
}

/**
 * Carries out a decision about one report of a tow: changes the draft and returns the audit entry, or refuses and leaves
 * the draft unchanged. Refusals: `report_not_found`, `field_invalid`, and those of `refusedDecision`.
 */
export function decideReport(
  draft: KnownTow,
  reportId: string,
  decision: ReportCommand,
  context: ReportContext,
): Decision<{ audit: AuditEntry }> {
  const stored = draft.entries.find(({ id }) => id === reportId);
  if (!stored) return unknown('report_not_found', 'There is no such report.');
  const alsoOver = decision.action === 'waive' ? paymentsOf(draft, stored) : [];
  let about: JsonObject = 'reason' in decision ? { reason: decision.reason } : {};
  const decided = decideOn(draft, stored, decision, context, (entry) => {
    if (decision.action !== 'correct') return { ok: true, what: alsoWaived(alsoOver.map(({ id }) => id)) };
    const corrected = correctEntry(draft, entry, decision.fields, context);
    if (!corrected.ok) return corrected;
    about = { fields: corrected.changed };
    return { ok: true, what: { fields: Object.keys(corrected.changed) } };
  });
  if (!decided.ok) return decided;
  const { actor, nowMs } = context;
  const reason = decided.audit.why ?? '';
  for (const payment of alsoOver) waiveEntry(draft, editEntry(draft, payment), reason, nowMs);
  for (const { id } of [stored, ...alsoOver]) {
    addEvent(draft, { type: decided.audit.action, report_id: id, by: actor.name, ...about }, nowMs);
  }
  return decided;
}

/** Corrects the body of an entry and its tow. Returns old and new values by field. */
function correctEntry(
  draft: KnownTow,
  entry: Entry,
  fields: Correction,
  { rules, clockMs }: ReportContext,
): Decision<{ changed: JsonObject }> {
  const { id, kind, body } = entry;
  if (kind === 'violation') throw new Error('not the entry of a tow');
  const corrected = correct(draft.tow, { id, kind, body }, { fields, reports: reportsOf(draft), rules, clockMs });
  if (!corrected.ok) return corrected;
  entry.body = corrected.body;
  keepRecordings(draft, corrected.tow.facts);
  draft.tow = corrected.tow;
  return { ok: true, changed: corrected.fields };
}

/** The pending payments to waive with an invoice. */
function paymentsOf({ entries }: KnownTow, waived: Entry): Entry[] {
  if (waived.kind !== 'invoice') return [];
  return entries.filter(({ kind, state }) => kind === 'payment' && state === 'pending');
}
