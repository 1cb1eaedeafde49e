import type { DifferingReport } from '../contracts/differences';
import { violationMember, violationOfMember } from '../domain/outbox-record';

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
    ? differingMember(ref ?? '', reportId ?? '')
    : differingMember(violationMember(violationId), violationId);
}

/** The record of a name, as circuits and schedules name it. */
export function recordInMember(text: string): string {
  return text.slice(0, text.lastIndexOf('\n'));
}

/** What a name means. */
export function partsOfMember(text: string) {
  const at = text.lastIndexOf('\n');
  const member = recordInMember(text);
  const violationId = violationOfMember(member);
  return violationId === null
    ? { towingReferenceId: member, reportId: text.slice(at + 1), violationId }
    : { towingReferenceId: null, reportId: null, violationId };
}
