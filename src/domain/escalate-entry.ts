import type { Entry } from './entry';
import { addEvent, openTask, type OutboxRecord } from './outbox-record';
import { givenUpTask, unknownOutcomeTask, type NewTask } from './tasks';
import { ticketUnknownTask, violationGivenUpTask, violationUnknownTask } from './violation-tasks';

/** `unchecked`: the ticket check never gave an answer. */
export interface Escalation {
  readonly why: 'unknown' | 'given_up' | 'unchecked';
}

/** Opens a task about an entry; nothing is sent until a person decides. */
export function escalate(record: OutboxRecord, entry: Entry, why: Escalation['why'], nowMs: number): void {
  entry.nextAtMs = null;
  entry.waitsFor = null;
  if (record.kind === 'violation' && why === 'unchecked') {
    entry.state = 'held';
    record.heldForTicket = true;
  }
  openTask(record, taskOf(entry, why), nowMs);
  addEvent(record, { type: 'report.handed_over', report_id: entry.id }, nowMs);
}

function taskOf({ id, kind, attempts }: Entry, why: Escalation['why']): NewTask {
  if (kind === 'violation') {
    switch (why) {
      case 'unknown':
        return violationUnknownTask(id);
      case 'given_up':
        return violationGivenUpTask({ id, attempts });
      case 'unchecked':
        return ticketUnknownTask(id);
    }
  }
  return why === 'unknown' ? unknownOutcomeTask({ id, kind }) : givenUpTask({ id, kind, attempts });
}
