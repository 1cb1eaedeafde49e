import { z } from 'zod';
import { ACCEPTED_HOW, CIRCUIT_NAMES, FACT_EVENTS, REPORT_KINDS } from '../vocabulary';

/**
 * The changes that programs beside towhook and live pages follow. A change names what happened, and to which record, with
 * the terms of the states and of the timeline. It has no personal data.
 */

/** What changes are about. */
export const CHANGE_SUBJECTS = ['tow', 'violation', 'delivery'] as const;

/** What a change is about. Its kind may be one of a later version, as its type may. */
export const changeSubject = z.object({
  kind: z.string().describe(`${CHANGE_SUBJECTS.join(', ')}, or one of a later version`),
  id: z.string(),
});
export type ChangeSubject = Readonly<z.output<typeof changeSubject>>;

/** A subject by its name, such as `tow:TW-1`; null for any other text. */
export function readSubject(name: string): ChangeSubject | null {
  const [, kind, id] = /^([a-z_]+):(.+)$/s.exec(name) ?? [];
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
  readonly summary: string;
  readonly data: readonly (keyof ChangeData)[];
}

const REPORT = ['report', 'report_id'] as const;
const ANSWERED_REPORT = [...REPORT, 'http_status'] as const;

/** Every type of change. A task is about the tow or violation that it belongs to, or about nothing. */
export const CHANGE_TYPES = {
  'tow.requested': { summary: 'The service requested the tow.', data: ['delivery_id'] },
  'tow.assigned': { summary: 'A crew was assigned.', data: ['crew'] },
  'tow.unassigned': { summary: 'The assignment was removed.', data: [] },
  'tow.step_recorded': { summary: 'A step of the crew was recorded.', data: [] },
  'tow.yard_set': { summary: 'The place in the yard was recorded.', data: [] },
  'tow.hold_placed': { summary: 'A hold was placed.', data: ['hold_id'] },
  'tow.hold_lifted': { summary: 'A hold was lifted.', data: ['hold_id'] },
  'tow.note_added': { summary: 'A note was added.', data: [] },
  'tow.photo_added': { summary: 'Photos were added.', data: [] },
  'tow.changed': { summary: 'Something else of the tow changed, such as what it waits for.', data: [] },
  'tow.archived': {
    summary: 'The tow was archived and left the API. Its sequence ends here, and would begin again at 1.',
    data: [],
  },
  'fact.recorded': { summary: 'A fact was recorded; its report is owed now.', data: ['fact'] },
  'report.accepted': { summary: 'The service has the report.', data: [...ANSWERED_REPORT, 'how'] },
  'report.refused': { summary: 'The service refused the report; a person decides.', data: ANSWERED_REPORT },
  'report.unknown': {
    summary: 'Whether the service has the report is not known; proof or a person settles it.',
    data: ANSWERED_REPORT,
  },
  'report.delayed': { summary: 'An attempt failed; it is repeated.', data: ANSWERED_REPORT },
  'report.waived': { summary: 'The report is not sent, or not sent again.', data: REPORT },
  'report.corrected': { summary: 'The report was corrected and is sent again.', data: ['report_id'] },
  'report.retried': { summary: 'A person had the report sent again.', data: ['report_id'] },
  'report.handed_over': { summary: 'Attempts ended; a person decides.', data: ['report_id'] },
  'invoice.answered': { summary: 'The service answered with the invoice.', data: ['report_id'] },
  'invoice.received': { summary: 'The service posted an invoice.', data: ['delivery_id'] },
  'request.rival_kept': {
    summary: 'The service requested the tow again with other content; the first request counts.',
    data: ['delivery_id'],
  },
  'shadow.sent': { summary: 'A person had the withheld tow sent.', data: [] },
  'shadow.declined': { summary: 'A person declined to send the withheld tow.', data: [] },
  'violation.joined': { summary: 'The tow comes from this violation.', data: ['violation_id'] },
  'violation.linked': { summary: 'A person linked the tow to this violation.', data: ['violation_id'] },
  'violation.recorded': { summary: 'A violation was reported; it is sent next.', data: [] },
  'violation.accepted': { summary: 'The service has the violation.', data: ['http_status', 'how'] },
  'violation.refused': { summary: 'The service refused the violation; a person decides.', data: ['http_status'] },
  'violation.unknown': {
    summary: 'Whether the service has the violation is not known; a tow request or a person settles it.',
    data: ['http_status'],
  },
  'violation.delayed': { summary: 'An attempt failed; it is repeated.', data: ['http_status'] },
  'violation.held': { summary: 'The violation is not sent until a person decides.', data: [] },
  'violation.waived': { summary: 'The violation is not sent, or not sent again.', data: [] },
  'violation.corrected': { summary: 'The form of the violation was corrected.', data: [] },
  'violation.towed': { summary: 'The service requested a tow for the violation.', data: ['towing_reference_id'] },
  'violation.changed': { summary: 'Something else of the violation changed.', data: [] },
  'violation.archived': { summary: 'The violation was archived and left the API. Its sequence ends here.', data: [] },
  'delivery.accepted': { summary: 'A webhook was stored and acknowledged.', data: ['towing_reference_id'] },
  'delivery.processed': { summary: 'The webhook was processed.', data: ['towing_reference_id', 'verdict'] },
  'delivery.parked': { summary: 'The invoice waits for the request of its tow.', data: ['towing_reference_id'] },
  'delivery.differs': { summary: 'The webhook breaks its contract and is kept.', data: ['towing_reference_id'] },
  'delivery.replayed': { summary: 'The webhook is processed again.', data: ['towing_reference_id'] },
  'delivery.archived': {
    summary: 'The webhook was archived and left the API. Its sequence ends here, and would begin again at 1.',
    data: ['towing_reference_id'],
  },
  'task.opened': { summary: 'A task for a person was opened.', data: ['task', 'task_id'] },
  'task.closed': { summary: 'A task was closed.', data: ['task', 'task_id'] },
  'circuit.opened': { summary: 'What this circuit blocks is not sent.', data: ['circuit'] },
  'circuit.closed': { summary: 'Sending goes on.', data: ['circuit'] },
  'run.changed': { summary: 'A run was started, aborted or has ended.', data: [] },
  'alarm.started': { summary: 'An alarm holds.', data: ['alarm', 'alarm_id'] },
  'alarm.ended': { summary: 'An alarm is over.', data: ['alarm', 'alarm_id'] },
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

interface KnownSubject {
  readonly kind: (typeof CHANGE_SUBJECTS)[number];
  readonly id: string;
}

/** A change as it is stored. */
export interface NewChange extends TypedChange {
  readonly subject: KnownSubject | null;
  /** 1, 2, 3, … of its subject without a gap; null where there is none. */
  readonly sequence: number | null;
}

/** Changes about a subject that has had `count` of them; without a count they have no sequence. */
export function numbered(changed: readonly TypedChange[], subject: KnownSubject, count: number | null): NewChange[] {
  return changed.map((change, at) => ({ ...change, subject, sequence: count === null ? null : count + at + 1 }));
}

/** A change that is about no record. */
export function general(type: ChangeType, data: ChangeData = {}): NewChange {
  return { type, data, subject: null, sequence: null };
}
