import { unblock, type Entry } from './entry';
import { addEvent, openTask, type OutboxRecord } from './outbox-record';
import { givenUpTask, unknownOutcomeTask, type NewTask } from '../ops/tasks';
import {
  activeTicketTask,
  imagesMissingTask,
  ticketCheckRefusedTask,
  ticketUnknownTask,
  violationGivenUpTask,
  violationUnknownTask,
} from '../violation/violation-tasks';

/**
 * Why a person must decide before an entry is sent. Those in `HOLDS` concern a violation that was not sent.
 *
 * - unchecked: the ticket check never gave an answer.
 */
export type Escalation =
  | { readonly why: 'unknown' | 'given_up' | 'unchecked' | 'images_missing' | 'active_ticket' }
  | { readonly why: 'ticket_refused'; readonly message: string };

const HOLDS: ReadonlySet<Escalation['why']> = new Set([
  'unchecked',
  'images_missing',
  'active_ticket',
  'ticket_refused',
]);

/** Opens a task about an entry; nothing is sent until a person decides. */
export function escalate(record: OutboxRecord, entry: Entry, by: Escalation, nowMs: number): void {
  unblock(entry, nowMs);
  entry.nextAtMs = null;
  entry.waitsFor = null;
  if (record.kind === 'violation' && HOLDS.has(by.why)) {
    entry.state = 'held';
    record.heldForTicket = by.why !== 'images_missing';
  }
  openTask(record, taskOf(entry, by), nowMs);
  if (record.kind === 'tow') addEvent(record, { type: 'report.handed_over', report_id: entry.id }, nowMs);
}

function taskOf({ id, kind, attempts }: Entry, by: Escalation): NewTask {
  switch (by.why) {
    case 'unknown':
      return kind === 'violation' ? violationUnknownTask(id) : unknownOutcomeTask({ id, kind });
    case 'given_up':
      return kind === 'violation' ? violationGivenUpTask({ id, attempts }) : givenUpTask({ id, kind, attempts });
    case 'unchecked':
      return ticketUnknownTask(id);
    case 'images_missing':
      return imagesMissingTask(id);
    case 'active_ticket':
      return activeTicketTask(id);
    case 'ticket_refused':
      return ticketCheckRefusedTask(id, by.message);
  }
}
