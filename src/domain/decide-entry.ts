import { ENTRY_POLICY, isEntrySettled, notePossibleEffect, restingState, unblock, type Entry } from './entry';
import { closeTask, entryTaskId, type OutboxRecord } from './outbox-record';
import { acceptEntry, waiveEntry } from './settle-entry';
import { violationContractTaskId } from './violation-tasks';

/** What a person decided about an entry; `correct` comes after its new body is in place. */
export type EntryDecision =
  | { readonly action: 'retry' }
  | { readonly action: 'correct' }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string };

/** Carries out a decision that the rules allow. Changes `record`. */
export function decideEntry(record: OutboxRecord, entry: Entry, decision: EntryDecision, nowMs: number): void {
  // A worker that asks for a ticket right now asks about what is no longer the question.
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

/** Sends it again, as if for the first time. */
function sendAgain(record: OutboxRecord, entry: Entry, { action }: EntryDecision, nowMs: number): void {
  unblock(entry, nowMs);
  if (record.kind === 'violation' && action === 'retry' && (record.heldForTicket || entry.ticketFailures > 0)) {
    record.ticketOverruled = true;
  }
  if (isEntrySettled(entry)) oweAgain(record, entry);
  // A person who says "again" takes responsibility for the unanswered attempts.
  const { openAfterRetry } = ENTRY_POLICY[entry.kind];
  entry.forgiven = Math.max(0, entry.unanswered - openAfterRetry);
  Object.assign(entry, {
    nextAtMs: nowMs,
    hint: null,
    failures: 0,
    notFound: 0,
    drops: 0,
    connectionLosses: 0,
    ticketFailures: 0,
    forbidden: false,
    waitsFor: null,
    firstFailedAtMs: null,
    giveUpAtMs: null,
  });
  if (record.kind === 'violation') record.heldForTicket = false;
  entry.state = restingState(entry);
  closeTask(record, entryTaskId(record, entry));
}

/** Owes an accepted entry once more, in its own place. The attempt that was accepted counts as one without an answer. */
function oweAgain(record: OutboxRecord, entry: Entry): void {
  if (record.kind === 'tow') {
    closeTask(record, `contract-${entry.id}.${record.ref}`);
  } else {
    closeTask(record, violationContractTaskId(record.id));
    record.isAnswerQuestioned = false;
    record.unfinishedSince = null;
  }
  Object.assign(entry, { settledAtMs: null, deliveredAtMs: null, acceptedHow: null });
  entry.unanswered += 1;
  notePossibleEffect(entry);
}
