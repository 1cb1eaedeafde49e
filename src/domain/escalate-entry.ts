import type { Entry } from './entry';
import { addEvent, openTask, type OutboxRecord } from './outbox-record';
import { givenUpTask, unknownOutcomeTask, type NewTask } from './tasks';
import { ticketUnknownTask, violationGivenUpTask, violationUnknownTask } from './violation-tasks';
import type { ReportKind } from './vocabulary';

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
  openTask(record, taskOf(record, entry, why), nowMs);
  addEvent(record, { type: 'report.handed_over', report_id: entry.id }, nowMs);
}

function taskOf(record: OutboxRecord, { id, kind, attempts }: Entry, why: Escalation['why']): NewTask {
  if (record.kind === 'violation' || kind === 'violation') {
    const violationId = record.kind === 'violation' ? record.id : id;
    switch (why) {
      case 'unknown':
        return violationUnknownTask(violationId);
      case 'given_up':
        return violationGivenUpTask({ id: violationId, attempts });
      case 'unchecked':
        return ticketUnknownTask(violationId);
    }
  }
  const report: { id: string; kind: ReportKind } = { id, kind };
  return why === 'unknown' ? unknownOutcomeTask(report) : givenUpTask({ ...report, attempts });
}
