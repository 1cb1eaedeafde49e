import type { DifferingReport } from '../contracts/differences';
import { memberNamed, recordNamed } from '../domain/outbox-record';

/** The members of the lists of answers that differ: one name per report or violation. */

/** The name of a report or violation in the list of a kind. */
export function differingMember(member: string, entryId: string): string {
  return `${member}\n${entryId}`;
}

/** The name in the list of a kind, from its parts. */
export function memberNaming({
  towing_reference_id: ref,
  report_id: reportId,
  violation_id: violationId,
}: Pick<DifferingReport, 'towing_reference_id' | 'report_id' | 'violation_id'>): string {
  return violationId === null
    ? differingMember(memberNamed({ kind: 'tow', id: ref ?? '' }), reportId ?? '')
    : differingMember(memberNamed({ kind: 'violation', id: violationId }), violationId);
}

/** The record of a name, as circuits and schedules name it. */
export function recordInMember(text: string): string {
  return text.slice(0, text.lastIndexOf('\n'));
}

/** What a name means. */
export function partsOfMember(text: string) {
  const { kind, id } = recordNamed(recordInMember(text));
  return kind === 'tow'
    ? { towingReferenceId: id, reportId: text.slice(text.lastIndexOf('\n') + 1), violationId: null }
    : { towingReferenceId: null, reportId: null, violationId: id };
}
