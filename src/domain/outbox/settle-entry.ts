import { change } from '../change';
import { countPossibleEffect, unblock, type AcceptingAnswer, type Entry } from './entry';
import { compareInvoices } from '../tow/invoice-entries';
import { headOf } from './outbox';
import { closeTask, entrySubject, versionNumber, type OutboxRecord, type StoredViolation } from './outbox-record';
import type { AcceptedHow } from '../vocabulary';

/** Settles an entry as accepted: by the answer, by proof, or by hand. */
export function acceptEntry(record: OutboxRecord, entry: Entry, how: AcceptedHow, nowMs: number): void {
  end(record, entry, nowMs);
  change(entry, { state: 'accepted', acceptedHow: how, error: null, hint: null, waitsFor: null });
  // The call in flight of a violation keeps its claim: its answer is kept too.
  if (record.kind === 'tow') entry.attemptId = null;
}

/** Keeps the answer that accepts an entry, and compares an invoice in it with the posted one. */
export function keepAcceptingAnswer(record: OutboxRecord, entry: Entry, kept: AcceptingAnswer, nowMs: number): void {
  const { answer, rawBody, deliveredAtMs } = kept;
  change(entry, { answer, rawBody, deliveredAtMs });
  if (record.kind === 'tow') compareInvoices(record, entry, nowMs);
}

/** Settles an entry by its late answer, once the other attempt ended without acceptance. False without a late answer. */
export function settleByLateAnswer(record: OutboxRecord, entry: Entry, nowMs: number): boolean {
  const late = entry.lateAnswer;
  if (!late) return false;
  keepAcceptingAnswer(record, entry, late, nowMs);
  acceptEntry(record, entry, 'late_answer', nowMs);
  return true;
}

/** Waives an entry: nothing more is sent for it. */
export function waiveEntry(record: OutboxRecord, entry: Entry, reason: string, nowMs: number): void {
  end(record, entry, nowMs);
  change(entry, { state: 'waived', reason, waitsFor: null });
  if (record.kind === 'tow') entry.attemptId = null;
}

/**
 * Makes an accepted violation owed again. Its last attempt then counts as unanswered, perhaps once more; the
 * result of an attempt in flight is counted when it comes. The caller sets the state.
 */
export function reopenEntry(record: StoredViolation, entry: Entry): void {
  record.cleanupSince = null;
  change(entry, { settledAtMs: null, deliveredAtMs: null, acceptedHow: null });
  if (entry.attemptId !== null) return;
  entry.unanswered += 1;
  countPossibleEffect(entry);
}

/** Requests a cleanup of a settled violation, from the version that is about to be written. */
export function requestCleanup(record: StoredViolation): void {
  record.cleanupSince = versionNumber(record.version) + 1;
}

/** Completes the cleanup that was requested when the violation was read as `seen`. Later requests stay. */
export function completeCleanup(record: OutboxRecord, seen: OutboxRecord): void {
  if (record.kind !== 'violation' || seen.kind !== 'violation' || record.cleanupSince === null) return;
  const isNewer = seen.cleanupSince === null || record.cleanupSince > seen.cleanupSince;
  if (!isNewer && headOf(record.entries) === undefined) record.cleanupSince = null;
}

function end(record: OutboxRecord, entry: Entry, nowMs: number): void {
  unblock(entry, nowMs);
  change(entry, { settledAtMs: nowMs, nextAtMs: null, lateAnswer: null });
  closeTask(record, entrySubject(record, entry));
  if (record.kind !== 'violation') return;
  record.heldForTicket = false;
  requestCleanup(record);
}
