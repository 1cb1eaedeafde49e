import { change } from '../change';
import { escalate } from './escalate-entry';
import { stateBetweenAttempts, startGiveUpClock, type Entry, type EntryError, type WaitReason } from './entry';
import type { LeaseRight } from './lease';
import { isSettled } from './outbox';
import { editEntry, type OutboxRecord } from './outbox-record';
import { settleByLateAnswer } from './settle-entry';
import { isoTimestamp } from '../timestamp';

/**
 * Why a lease is given back without an attempt.
 *
 * - images_unseen: this worker does not see the disk with the images.
 * - images_missing: the images are missing or truncated; escalates.
 * - ticket_known: the result of the ticket check; an active ticket escalates.
 * - ticket_refused: the service refused the ticket check; escalates.
 * - ticket_unknown: the ticket check had no answer; escalates when it lasts.
 */
export type GiveBack =
  | { readonly kind: 'images_unseen'; readonly delayMs: number }
  | { readonly kind: 'images_missing' }
  | { readonly kind: 'ticket_known'; readonly hasActiveTicket: boolean }
  | { readonly kind: 'ticket_refused'; readonly message: string }
  | { readonly kind: 'ticket_unknown'; readonly delayMs: number; readonly error: EntryError };

interface GiveBackContext {
  readonly nowMs: number;
  readonly giveUpAfterMs: number;
}

/** Gives a lease back. `late`: it was lost, and nothing changes. Changes `record`. */
export function giveBack(
  record: OutboxRecord,
  right: LeaseRight,
  why: GiveBack,
  context: GiveBackContext,
): 'done' | 'late' {
  const stored = record.entries.find(({ seq }) => seq === right.entry.seq);
  if (stored?.revision !== right.entry.revision || record.lease?.token !== right.leaseToken) return 'late';
  const entry = editEntry(record, stored);
  record.lease = null;
  if (entry.attemptId !== null) {
    entry.attempts -= 1;
    entry.attemptId = null;
  }
  if (why.kind === 'ticket_known') keepTicket(record, entry, why.hasActiveTicket, context.nowMs);
  if (isSettled(entry.state) || settleByLateAnswer(record, entry, context.nowMs)) return 'done';
  scheduleOrEscalate(record, entry, why, context);
  return 'done';
}

/** Schedules the entry again, or opens a task. */
function scheduleOrEscalate(
  record: OutboxRecord,
  entry: Entry,
  why: GiveBack,
  { nowMs, giveUpAfterMs }: GiveBackContext,
): void {
  switch (why.kind) {
    case 'images_unseen':
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return waitUntil(entry, nowMs + why.delayMs, 'spool');
    case 'images_missing':
      return escalate(record, entry, { why: 'images_missing' }, nowMs);
    case 'ticket_known':
      if (!why.hasActiveTicket) return waitUntil(entry, nowMs, null);
      return escalate(record, entry, { why: 'active_ticket' }, nowMs);
    case 'ticket_refused':
      return escalate(record, entry, { why: 'ticket_refused', message: why.message }, nowMs);
    case 'ticket_unknown':
      entry.ticketFailures += 1;
      entry.error = why.error;
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return waitUntil(entry, nowMs + why.delayMs, 'ticket_check');
  }
}

function waitUntil(entry: Entry, nextAtMs: number, waitsFor: WaitReason | null): void {
  change(entry, { state: stateBetweenAttempts(entry), nextAtMs, waitsFor });
}

function keepTicket(record: OutboxRecord, entry: Entry, hasActiveTicket: boolean, nowMs: number): void {
  if (record.kind !== 'violation') return;
  record.ticket = { checked_at: isoTimestamp(nowMs), has_active_ticket: hasActiveTicket };
  entry.ticketFailures = 0;
  if (entry.failures === 0) change(entry, { firstFailedAtMs: null, giveUpAtMs: null, error: null });
}
