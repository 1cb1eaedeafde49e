import { change } from '../change';
import { ENTRY_POLICY, stateBetweenAttempts, unblock, type Entry } from './entry';
import { closeTask, entrySubject, type OutboxRecord } from './outbox-record';
import { acceptEntry, waiveEntry } from './settle-entry';

/** A decision about an entry. Before `correct` the entry gets its new body. */
export type EntryDecision =
  | { readonly action: 'retry' }
  | { readonly action: 'correct' }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string };

/** Carries out a decision that the rules allow. Changes `record`. */
export function decideEntry(record: OutboxRecord, entry: Entry, decision: EntryDecision, nowMs: number): void {
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
