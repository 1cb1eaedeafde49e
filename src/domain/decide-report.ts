import { alsoWaived, auditOf, type Actor, type AuditAction, type AuditDetails, type AuditEntry } from './audit';
import { correct, type Correction } from './correct';
import { decideEntry } from './decide-entry';
import { isEntrySettled, type Entry } from './entry';
import type { TowRules } from './fact-command';
import { noteEvent } from './outbox-record';
import { isAnswerQuestioned } from './questioned-answer';
import { conflict, unknown, type Decision } from './refusal';
import { waiveEntry } from './settle-entry';
import { reportsOf, type KnownTow } from './stored-tow';
import type { JsonObject } from './vocabulary';

/** What a person may decide about a report that is not settled; one whose answer is questioned may be sent again, too. */
export type DecisionCommand =
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly fields: Correction }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string };

export interface DecisionContext {
  readonly actor: Actor;
  readonly rules: TowRules;
  /** The time of day, which a corrected time must not exceed, ms. */
  readonly clockMs: number;
  /** Redis time, ms. */
  readonly nowMs: number;
}

/**
 * Carries out the decision of a person on one report of a tow: changes the draft and returns the audit entry, or refuses
 * and leaves the draft as it is. Refusals: `report_not_found`, `report_settled`, `report_in_flight`,
 * `correct_not_allowed`, `field_invalid`.
 */
export function decideReport(
  draft: KnownTow,
  reportId: string,
  command: DecisionCommand,
  context: DecisionContext,
): Decision<{ audit: AuditEntry }> {
  const entry = draft.entries.find(({ id }) => id === reportId);
  if (!entry) return unknown('report_not_found', 'There is no such report.');
  const refusal = refusalOf(draft, entry, command);
  if (refusal) return refusal;
  const { actor, nowMs } = context;
  const decided = (about: JsonObject, { why = null, what = {} }: { why?: string | null; what?: AuditDetails }) => {
    const on = { towing_reference_id: draft.ref, report_id: reportId };
    const audit = auditOf(actor, AUDIT_ACTIONS_OF[command.action], { on, why, what });
    noteEvent(draft, { type: audit.action, report_id: reportId, by: actor.name, ...about }, nowMs);
    return { ok: true, audit } as const;
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
      for (const payment of payments) waiveEntry(draft, payment, reason, nowMs);
      return decided({ reason }, { why: reason, what: alsoWaived(payments.map(({ id }) => id)) });
    }
    case 'correct': {
      const fields = correctEntry(draft, entry, command.fields, context);
      if (!fields.ok) return fields;
      decideEntry(draft, entry, command, nowMs);
      return decided({ fields: fields.changed }, { what: { fields: Object.keys(fields.changed) } });
    }
  }
}

/** Why the decision may not be made; null when it may. */
function refusalOf(draft: KnownTow, entry: Entry, { action }: DecisionCommand) {
  const settled = isEntrySettled(entry) ? notSentAgain(draft, entry, action) : null;
  if (settled) return settled;
  if (entry.attemptId !== null || entry.state === 'sending') {
    return conflict('report_in_flight', 'The report is being sent right now; decide when its answer is here.');
  }
  return action === 'correct' && entry.state === 'unknown'
    ? conflict('correct_not_allowed', 'The outcome is unknown: accept, retry or waive it.')
    : null;
}

/**
 * Why a settled report takes no decision; null when it may be sent again. It then goes to the head of the outbox, which no
 * report on its way may leave.
 */
function notSentAgain({ entries, tasks }: KnownTow, { id, state }: Entry, action: DecisionCommand['action']) {
  const open = Object.values(tasks).map(({ task }) => task);
  if (action !== 'retry' || state !== 'accepted' || !isAnswerQuestioned(id, open)) {
    return conflict('report_settled', `The report was already ${state}.`);
  }
  return entries.some(({ attemptId }) => attemptId !== null)
    ? conflict('report_in_flight', 'Another report of the tow is being sent right now; decide when its answer is here.')
    : null;
}

/** Gives an entry its corrected body, and the tow what follows from it; returns old and new values by field. */
function correctEntry(
  draft: KnownTow,
  entry: Entry,
  fields: Correction,
  { rules, clockMs }: DecisionContext,
): Decision<{ changed: JsonObject }> {
  const { id, kind, body } = entry;
  if (kind === 'violation') throw new Error('not the entry of a tow');
  const corrected = correct(
    draft.tow,
    { id, kind, body },
    { fields, reports: reportsOf(draft), rules, nowMs: clockMs },
  );
  if (!corrected.ok) return corrected;
  entry.body = corrected.body;
  draft.tow = corrected.tow;
  return { ok: true, changed: corrected.fields };
}

/** Without its invoice a payment has nothing to pay. */
function paymentsOf({ entries }: KnownTow, waived: Entry): Entry[] {
  if (waived.kind !== 'invoice') return [];
  return entries.filter(({ kind, state }) => kind === 'payment' && state === 'pending');
}

const AUDIT_ACTIONS_OF = {
  retry: 'report.retried',
  correct: 'report.corrected',
  waive: 'report.waived',
  accept: 'report.accepted_by_hand',
} as const satisfies Record<DecisionCommand['action'], AuditAction>;
