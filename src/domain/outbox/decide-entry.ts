import { change } from '../change';
import { ENTRY_POLICY, stateBetweenAttempts, unblock, type Entry } from './entry';
import { auditOf, type Actor, type AuditDetails, type AuditEntry } from '../ops/audit';
import type { Decision } from '../refusal';
import { refusedDecision } from './decisions';
import { asShown } from './withheld';
import { closeTask, editEntry, entrySubject, type OutboxRecord } from './outbox-record';
import { acceptEntry, waiveEntry } from './settle-entry';

/** A decision about an entry, with its input. */
export type EntryDecision<Corrected extends object = object, Accepted extends object = object> =
  | { readonly action: 'retry' }
  | ({ readonly action: 'correct' } & Corrected)
  | { readonly action: 'waive'; readonly reason: string }
  | ({ readonly action: 'accept'; readonly reason: string } & Accepted);

export interface DecisionContext {
  readonly actor: Actor;
  /** Clock of this process, ms. */
  readonly clockMs: number;
  /** Redis time, ms. */
  readonly nowMs: number;
}

const DONE = { retry: 'retried', correct: 'corrected', waive: 'waived', accept: 'accepted_by_hand' } as const;

/**
 * Carries out a decision about an entry if the rules allow it. `prepare` changes what the decision is about, such as the
 * body before it is sent again, and returns what the audit keeps; or it refuses and changes nothing. Changes `record`.
 */
export function decideOn(
  record: OutboxRecord,
  stored: Entry,
  decision: EntryDecision,
  { actor, nowMs }: Pick<DecisionContext, 'actor' | 'nowMs'>,
  prepare: (entry: Entry) => Decision<{ what: AuditDetails }>,
): Decision<{ audit: AuditEntry }> {
  const refused = refusedDecision(decision.action, asShown(stored, record.withheld));
  if (refused) return refused;
  const entry = editEntry(record, stored);
  const prepared = prepare(entry);
  if (!prepared.ok) return prepared;
  decideEntry(record, entry, decision, nowMs);
  const [subject, on] =
    record.kind === 'tow'
      ? (['report', { towing_reference_id: record.ref, report_id: entry.id }] as const)
      : (['violation', { violation_id: record.id }] as const);
  const why = 'reason' in decision ? decision.reason : null;
  return { ok: true, audit: auditOf(actor, `${subject}.${DONE[decision.action]}`, { on, why, what: prepared.what }) };
}

function decideEntry(record: OutboxRecord, entry: Entry, decision: EntryDecision, nowMs: number): void {
  // End a ticket check that is under way: the decision changes what it would be about.
  if (record.kind === 'violation' && entry.attemptId === null) record.lease = null;
  switch (decision.action) {
    case 'waive':
      return waiveEntry(record, entry, decision.reason, nowMs);
    case 'accept':
      acceptEntry(record, entry, 'by_hand', nowMs);
      entry.reason = decision.reason;
      return;
    case 'correct':
      entry.error = null;
      entry.revision += 1;
      return sendAgain(record, entry, decision, nowMs);
    case 'retry':
      return sendAgain(record, entry, decision, nowMs);
  }
}

/** Makes the entry due now, with failure counters reset. It keeps its place in the waiting queue of a rate limit. */
function sendAgain(record: OutboxRecord, entry: Entry, { action }: EntryDecision, nowMs: number): void {
  unblock(entry, nowMs);
  const waitsForPermit = entry.waitsFor === 'budget';
  if (waitsForPermit) record.runAtMs = null;
  if (record.kind === 'violation' && action === 'retry' && (record.heldForTicket || entry.ticketFailures > 0)) {
    record.ticketOverruled = true;
  }
  // A manual retry forgives earlier unanswered attempts; the next unanswered one escalates again.
  const { openAfterRetry } = ENTRY_POLICY[entry.kind];
  entry.forgiven = Math.max(0, entry.unanswered - openAfterRetry);
  change(entry, {
    nextAtMs: nowMs,
    hint: null,
    failures: 0,
    notFound: 0,
    drops: 0,
    connectionLosses: 0,
    ticketFailures: 0,
    forbidden: false,
    waitsFor: waitsForPermit ? entry.waitsFor : null,
    firstFailedAtMs: null,
    giveUpAtMs: null,
  });
  if (record.kind === 'violation') record.heldForTicket = false;
  entry.state = stateBetweenAttempts(entry);
  closeTask(record, entrySubject(record, entry));
}
