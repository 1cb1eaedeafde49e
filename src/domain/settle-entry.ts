import { isEntrySettled, unblock, type Entry } from './entry';
import {
  closeTask,
  entryTaskId,
  noteEvent,
  versionNumber,
  type OutboxRecord,
  type StoredViolation,
} from './outbox-record';

/** How an entry ends: accepted or waived. */

/** Settles an entry as accepted: by the service's answer, by proof, or by hand. */
export function acceptEntry(record: OutboxRecord, entry: Entry, how: string, nowMs: number): void {
  end(record, entry, nowMs);
  Object.assign(entry, { state: 'accepted', acceptedHow: how, error: null, hint: null, waitsFor: null });
  // A call under way then keeps its claim: its answer is kept too.
  if (record.kind === 'tow') entry.attemptId = null;
  // A decision by hand has an event of its own, with who and why.
  if (how !== 'by_hand') noteEvent(record, { type: 'report.accepted', report_id: entry.id, how }, nowMs);
}

/** Gives an entry up: nothing more is sent for it. */
export function waiveEntry(record: OutboxRecord, entry: Entry, reason: string, nowMs: number): void {
  end(record, entry, nowMs);
  Object.assign(entry, { state: 'waived', reason, waitsFor: null });
  if (record.kind === 'tow') entry.attemptId = null;
}

/** There is something to clear up behind a settled violation: from the version on that is about to be written. */
export function beginClearingUp(record: StoredViolation): void {
  record.unfinishedSince = versionNumber(record.version) + 1;
}

/** What was to be cleared up when the violation was read as `seen` is done; what came since is not. */
export function endClearingUp(record: OutboxRecord, seen: OutboxRecord): void {
  if (record.kind !== 'violation' || seen.kind !== 'violation' || record.unfinishedSince === null) return;
  const isNewer = seen.unfinishedSince === null || record.unfinishedSince > seen.unfinishedSince;
  if (!isNewer && record.entries.every(isEntrySettled)) record.unfinishedSince = null;
}

/** The question about the answer by which a violation was accepted is closed: its images may go. */
export function settleQuestionedAnswer(record: StoredViolation): void {
  if (!record.isAnswerQuestioned || !record.entries.every(isEntrySettled)) return;
  record.isAnswerQuestioned = false;
  beginClearingUp(record);
}

function end(record: OutboxRecord, entry: Entry, nowMs: number): void {
  unblock(entry, nowMs);
  Object.assign(entry, { settledAtMs: nowMs, nextAtMs: null, lateAnswer: null });
  closeTask(record, entryTaskId(record, entry));
  if (record.kind !== 'violation') return;
  record.heldForTicket = false;
  beginClearingUp(record);
}
