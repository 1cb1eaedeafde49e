import { isEntrySettled, restingState, startGiveUpClock, unblock, type Entry, type EntryError } from './entry';
import { openTask, type OutboxRecord } from './outbox-record';
import type { NewTask } from './tasks';
import { activeTicketTask, imagesMissingTask, ticketCheckRefusedTask } from './violation-tasks';

/**
 * Why a right is given back without an attempt.
 *
 * - images_unseen: this worker does not see the disk that the images are on.
 * - images_missing: they are gone from that disk, or cut off; a person must decide.
 * - ticket_known: what the service said about an active ticket; if there is one, a person must decide.
 * - ticket_refused: the service refused to say; a person must decide.
 * - ticket_unknown: it could not say. Counted, so that a person must decide one day.
 */
export type GiveBack =
  | { readonly kind: 'images_unseen'; readonly delayMs: number }
  | { readonly kind: 'images_missing' }
  | { readonly kind: 'ticket_known'; readonly hasActiveTicket: boolean }
  | { readonly kind: 'ticket_refused'; readonly words: string }
  | { readonly kind: 'ticket_unknown'; readonly delayMs: number; readonly error: EntryError };

/** The right that is given back, and the entry it is about. */
export interface LeaseRight {
  readonly entry: Pick<Entry, 'seq' | 'revision'>;
  readonly leaseToken: string;
}

interface GiveBackContext {
  readonly nowMs: number;
  readonly giveUpAfterMs: number;
}

/** Gives a right back. Late: it was lost, and nothing changes. Changes `record`. */
export function giveBack(
  record: OutboxRecord,
  right: LeaseRight,
  why: GiveBack,
  context: GiveBackContext,
): 'done' | 'late' {
  const entry = record.entries.find(({ seq }) => seq === right.entry.seq);
  if (entry?.revision !== right.entry.revision || record.lease?.token !== right.leaseToken) return 'late';
  record.lease = null;
  if (entry.attemptId !== null) {
    entry.attempts -= 1;
    entry.attemptId = null;
  }
  if (why.kind === 'ticket_known') keepTicket(record, entry, why.hasActiveTicket, context.nowMs);
  if (!isEntrySettled(entry)) goOn(record, entry, why, context);
  return 'done';
}

/** Sets when the entry comes up again, or what a person is asked. */
function goOn(record: OutboxRecord, entry: Entry, why: GiveBack, { nowMs, giveUpAfterMs }: GiveBackContext): void {
  const { id } = entry;
  switch (why.kind) {
    case 'images_unseen':
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return rest(entry, nowMs + why.delayMs, 'spool');
    case 'images_missing':
      return ask(record, entry, { task: imagesMissingTask(id), isAboutTicket: false }, nowMs);
    case 'ticket_known':
      if (!why.hasActiveTicket) return rest(entry, nowMs, null);
      return ask(record, entry, { task: activeTicketTask(id), isAboutTicket: true }, nowMs);
    case 'ticket_refused':
      return ask(record, entry, { task: ticketCheckRefusedTask(id, why.words), isAboutTicket: true }, nowMs);
    case 'ticket_unknown':
      entry.ticketFailures += 1;
      entry.error = why.error;
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return rest(entry, nowMs + why.delayMs, 'ticket_check');
  }
}

function rest(entry: Entry, nextAtMs: number, waitsFor: string | null): void {
  Object.assign(entry, { state: restingState(entry), nextAtMs, waitsFor });
}

/** Holds an entry that was not sent until a person decides. */
function ask(
  record: OutboxRecord,
  entry: Entry,
  { task, isAboutTicket }: { readonly task: NewTask; readonly isAboutTicket: boolean },
  nowMs: number,
): void {
  unblock(entry, nowMs);
  Object.assign(entry, { state: 'held', nextAtMs: null, waitsFor: null });
  if (record.kind === 'violation') record.heldForTicket = isAboutTicket;
  openTask(record, task, nowMs);
}

function keepTicket(record: OutboxRecord, entry: Entry, hasActiveTicket: boolean, nowMs: number): void {
  if (record.kind !== 'violation') return;
  record.ticket = { checked_at: new Date(nowMs).toISOString(), has_active_ticket: hasActiveTicket };
  entry.ticketFailures = 0;
  if (entry.failures === 0) Object.assign(entry, { firstFailedAtMs: null, giveUpAtMs: null, error: null });
}
