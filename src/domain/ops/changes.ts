import { z } from 'zod';
import { ACCEPTED_HOW, CIRCUIT_NAMES, FACT_EVENTS, REPORT_KINDS } from '../vocabulary';

/**
 * The changes that programs beside towhook and live pages follow. A change names what happened, and to which record, with
 * the terms of the states and of the timeline. It has no personal data.
 */

/** What a change is about. */
export const CHANGE_SUBJECTS = ['tow', 'violation', 'delivery'] as const;
export type ChangeSubjectKind = (typeof CHANGE_SUBJECTS)[number];

export const changeSubject = z.object({ kind: z.enum(CHANGE_SUBJECTS), id: z.string() });
export type ChangeSubject = Readonly<z.output<typeof changeSubject>>;

const SUBJECT = new RegExp(`^(${CHANGE_SUBJECTS.join('|')}):(.+)$`, 's');

/** A subject by its name, such as `tow:TW-1`; null for any other text. */
export function readSubject(name: string): ChangeSubject | null {
  const [, kind, id] = SUBJECT.exec(name) ?? [];
  return changeSubject.safeParse({ kind, id }).data ?? null;
}

/** The small facts of a change; which of them a type has is in its row of CHANGE_TYPES. */
export const changeData = z
  .object({
    fact: z.enum(FACT_EVENTS),
    report: z.enum(REPORT_KINDS),
    report_id: z.string(),
    /** How it was accepted. */
    how: z.enum(ACCEPTED_HOW),
    /** Of the last attempt; null when there was no answer. */
    http_status: z.number().nullable(),
    /** The result of processing a delivery. */
    verdict: z.string(),
    towing_reference_id: z.string(),
    violation_id: z.string(),
    delivery_id: z.string(),
    hold_id: z.string(),
    crew: z.string(),
    /** The type of a task. */
    task: z.string(),
    task_id: z.string(),
    circuit: z.enum(CIRCUIT_NAMES),
    alarm: z.string(),
    alarm_id: z.string(),
  })
  .partial();
export type ChangeData = Readonly<z.output<typeof changeData>>;

interface ChangeRow {
  /** Null: about no record, so without a sequence. */
  readonly subject: ChangeSubjectKind | null;
  readonly summary: string;
  readonly data: readonly (keyof ChangeData)[];
}

const REPORT = ['report', 'report_id'] as const;
const ANSWERED_REPORT = [...REPORT, 'http_status'] as const;

/** Every type of change. A task is about the tow or violation that it belongs to, or about nothing. */
export const CHANGE_TYPES = {
  'tow.requested': { subject: 'tow', summary: 'The service requested the tow.', data: ['delivery_id'] },
  'tow.assigned': { subject: 'tow', summary: 'A crew was assigned.', data: ['crew'] },
  'tow.unassigned': { subject: 'tow', summary: 'The assignment was removed.', data: [] },
  'tow.step_recorded': { subject: 'tow', summary: 'A step of the crew was recorded.', data: [] },
  'tow.yard_set': { subject: 'tow', summary: 'The place in the yard was recorded.', data: [] },
  'tow.hold_placed': { subject: 'tow', summary: 'A hold was placed.', data: ['hold_id'] },
  'tow.hold_lifted': { subject: 'tow', summary: 'A hold was lifted.', data: ['hold_id'] },
  'tow.note_added': { subject: 'tow', summary: 'A note was added.', data: [] },
  'tow.photo_added': { subject: 'tow', summary: 'Photos were added.', data: [] },
  'tow.changed': { subject: 'tow', summary: 'Something else of the tow changed, such as what it waits for.', data: [] },
  'tow.archived': {
    subject: 'tow',
    summary: 'The tow was archived and left the API. Its sequence ends here, and would begin again at 1.',
    data: [],
  },
  'fact.recorded': { subject: 'tow', summary: 'A fact was recorded; its report is owed now.', data: ['fact'] },
  'report.accepted': { subject: 'tow', summary: 'The service has the report.', data: [...ANSWERED_REPORT, 'how'] },
  'report.refused': {
    subject: 'tow',
    summary: 'The service refused the report; a person decides.',
    data: ANSWERED_REPORT,
  },
  'report.unknown': {
    subject: 'tow',
    summary: 'Whether the service has the report is not known; proof or a person settles it.',
    data: ANSWERED_REPORT,
  },
  'report.delayed': { subject: 'tow', summary: 'An attempt failed; it is repeated.', data: ANSWERED_REPORT },
  'report.waived': { subject: 'tow', summary: 'The report is not sent, or not sent again.', data: REPORT },
  'report.corrected': { subject: 'tow', summary: 'The report was corrected and is sent again.', data: ['report_id'] },
  'report.retried': { subject: 'tow', summary: 'A person had the report sent again.', data: ['report_id'] },
  'report.handed_over': { subject: 'tow', summary: 'Attempts ended; a person decides.', data: ['report_id'] },
  'invoice.answered': { subject: 'tow', summary: 'The service answered with the invoice.', data: ['report_id'] },
  'invoice.received': { subject: 'tow', summary: 'The service posted an invoice.', data: ['delivery_id'] },
  'request.rival_kept': {
    subject: 'tow',
    summary: 'The service requested the tow again with other content; the first request counts.',
    data: ['delivery_id'],
  },
  'shadow.sent': { subject: 'tow', summary: 'A person had the withheld tow sent.', data: [] },
  'shadow.declined': { subject: 'tow', summary: 'A person declined to send the withheld tow.', data: [] },
  'violation.joined': { subject: 'tow', summary: 'The tow comes from this violation.', data: ['violation_id'] },
  'violation.linked': {
    subject: 'tow',
    summary: 'A person linked the tow to this violation.',
    data: ['violation_id'],
  },
  'violation.recorded': { subject: 'violation', summary: 'A violation was reported; it is sent next.', data: [] },
  'violation.accepted': {
    subject: 'violation',
    summary: 'The service has the violation.',
    data: ['http_status', 'how'],
  },
  'violation.refused': {
    subject: 'violation',
    summary: 'The service refused the violation; a person decides.',
    data: ['http_status'],
  },
  'violation.unknown': {
    subject: 'violation',
    summary: 'Whether the service has the violation is not known; a tow request or a person settles it.',
    data: ['http_status'],
  },
  'violation.delayed': { subject: 'violation', summary: 'An attempt failed; it is repeated.', data: ['http_status'] },
  'violation.held': { subject: 'violation', summary: 'The violation is not sent until a person decides.', data: [] },
  'violation.waived': { subject: 'violation', summary: 'The violation is not sent, or not sent again.', data: [] },
  'violation.corrected': { subject: 'violation', summary: 'The form of the violation was corrected.', data: [] },
  'violation.towed': {
    subject: 'violation',
    summary: 'The service requested a tow for the violation.',
    data: ['towing_reference_id'],
  },
  'violation.changed': { subject: 'violation', summary: 'Something else of the violation changed.', data: [] },
  'violation.archived': {
    subject: 'violation',
    summary: 'The violation was archived and left the API. Its sequence ends here.',
    data: [],
  },
  'delivery.accepted': {
    subject: 'delivery',
    summary: 'A webhook was stored and acknowledged.',
    data: ['towing_reference_id'],
  },
  'delivery.processed': {
    subject: 'delivery',
    summary: 'The webhook was processed.',
    data: ['towing_reference_id', 'verdict'],
  },
  'delivery.parked': {
    subject: 'delivery',
    summary: 'The invoice waits for the request of its tow.',
    data: ['towing_reference_id'],
  },
  'delivery.differs': {
    subject: 'delivery',
    summary: 'The webhook breaks its contract and is kept.',
    data: ['towing_reference_id'],
  },
  'delivery.replayed': {
    subject: 'delivery',
    summary: 'The webhook is processed again.',
    data: ['towing_reference_id'],
  },
  'delivery.archived': {
    subject: 'delivery',
    summary: 'The webhook was archived and left the API. Its sequence ends here, and would begin again at 1.',
    data: ['towing_reference_id'],
  },
  'task.opened': { subject: null, summary: 'A task for a person was opened.', data: ['task', 'task_id'] },
  'task.closed': { subject: null, summary: 'A task was closed.', data: ['task', 'task_id'] },
  'circuit.opened': { subject: null, summary: 'What this circuit blocks is not sent.', data: ['circuit'] },
  'circuit.closed': { subject: null, summary: 'Sending goes on.', data: ['circuit'] },
  'run.changed': { subject: null, summary: 'A run was started, aborted or has ended.', data: [] },
  'alarm.started': { subject: null, summary: 'An alarm holds.', data: ['alarm', 'alarm_id'] },
  'alarm.ended': { subject: null, summary: 'An alarm is over.', data: ['alarm', 'alarm_id'] },
} as const satisfies Record<string, ChangeRow>;

export type ChangeType = keyof typeof CHANGE_TYPES;

export function isChangeType(name: string): name is ChangeType {
  return Object.hasOwn(CHANGE_TYPES, name);
}

/** What happened to something. */
export interface TypedChange {
  readonly type: ChangeType;
  readonly data: ChangeData;
}

/** A change as it is stored. */
export interface NewChange extends TypedChange {
  readonly subject: ChangeSubject | null;
  /** 1, 2, 3, … of its subject without a gap; null where there is none. */
  readonly sequence: number | null;
}

/** Changes about a subject that has had `count` of them; without a count they have no sequence. */
export function numbered(changed: readonly TypedChange[], subject: ChangeSubject, count: number | null): NewChange[] {
  return changed.map((change, at) => ({ ...change, subject, sequence: count === null ? null : count + at + 1 }));
}

/** A change that is about no record. */
export function general(type: ChangeType, data: ChangeData = {}): NewChange {
  return { type, data, subject: null, sequence: null };
}
