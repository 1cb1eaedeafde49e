import { alsoWaived, auditOf, type Actor, type AuditAction, type AuditDetails, type AuditEntry } from '../ops/audit';
import { correct, type Correction } from './correct';
import { decideEntry } from './decide-entry';
import { refusedForReport, type DecisionAction } from './decisions';
import type { Entry } from './entry';
import type { TowRules } from '../tow/fact-command';
import { editEntry, addEvent } from './outbox-record';
import { unknown, type Decision } from '../refusal';
import { waiveEntry } from './settle-entry';
import { asShown } from './held-record';
import { reportsOf, type KnownTow } from '../tow/stored-tow';
import { keepRecordings } from '../tow/timeline';
import type { JsonObject } from '../vocabulary';

/** A decision about a report, with its input. */
export type DecisionCommand =
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly fields: Correction }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string };

export interface DecisionContext {
  readonly actor: Actor;
  readonly rules: TowRules;
  /** Clock of this process, ms. A corrected time must not lie in its future. */
  readonly clockMs: number;
  /** Redis time, ms. */
  readonly nowMs: number;
}

/**
 * Carries out a decision about one report of a tow: changes the draft and returns the audit entry, or refuses and leaves
 * the draft unchanged. Refusals: `report_not_found`, `report_settled`, `report_in_flight`,
 * `held_in_shadow`, `correct_not_allowed`, `field_invalid`.
 */
export function decideReport(
  draft: KnownTow,
  reportId: string,
  command: DecisionCommand,
  context: DecisionContext,
): Decision<{ audit: AuditEntry }> {
  const stored = draft.entries.find(({ id }) => id === reportId);
  if (!stored) return unknown('report_not_found', 'There is no such report.');
  const refused = refusedForReport(command.action, asShown(stored, draft.shadow));
  if (refused) return refused;
  const entry = editEntry(draft, stored);
  const { actor, nowMs } = context;
  const action = AUDIT_ACTIONS_OF[command.action];
  const note = (id: string, about: JsonObject) =>
    addEvent(draft, { type: action, report_id: id, by: actor.name, ...about }, nowMs);
  const decided = (about: JsonObject, { why = null, what = {} }: { why?: string | null; what?: AuditDetails }) => {
    const on = { towing_reference_id: draft.ref, report_id: reportId };
    note(reportId, about);
    return { ok: true, audit: auditOf(actor, action, { on, why, what }) } as const;
  };
  switch (command.action) {
    case 'retry':
      decideEntry(draft, entry, command, nowMs);
      return decided({}, {});
    case 'accept': {
      const { reason } = command;
      decideEntry(draft, entry, command, nowMs);
      return decided({ reason }, { why: reason });
    }
    case 'waive': {
      const { reason } = command;
      const payments = paymentsOf(draft, entry);
      decideEntry(draft, entry, command, nowMs);
      for (const payment of payments) waiveEntry(draft, editEntry(draft, payment), reason, nowMs);
      const waived = decided({ reason }, { why: reason, what: alsoWaived(payments.map(({ id }) => id)) });
      for (const payment of payments) note(payment.id, { reason });
      return waived;
    }
    case 'correct': {
      const fields = correctEntry(draft, entry, command.fields, context);
      if (!fields.ok) return fields;
      decideEntry(draft, entry, command, nowMs);
      return decided({ fields: fields.changed }, { what: { fields: Object.keys(fields.changed) } });
    }
  }
}

/** Corrects the body of an entry and its tow. Returns old and new values by field. */
function correctEntry(
  draft: KnownTow,
  entry: Entry,
  fields: Correction,
  { rules, clockMs }: DecisionContext,
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

const AUDIT_ACTIONS_OF = {
  retry: 'report.retried',
  correct: 'report.corrected',
  waive: 'report.waived',
  accept: 'report.accepted_by_hand',
} as const satisfies Record<DecisionAction, AuditAction>;
