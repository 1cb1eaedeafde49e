import type { ViolationView } from '../contracts/violations';
import { hasOffset } from '../domain/timestamp';
import type { CommandOutput } from './command';
import { pairs, riyadhTime, section, textOrDash, waitsForText, table } from './format';

export function violationOutput(violation: ViolationView): CommandOutput {
  return { json: violation, lines: violationLines(violation) };
}

export function violationTable(violations: readonly ViolationView[]): string[] {
  return table(
    ['violation', 'state', 'plate', 'type', 'reported (Riyadh)', 'service', 'tows'],
    violations.map((violation) => [
      violation.id,
      violation.state,
      violation.form.plateNumber,
      textOrDash(violation.form.violationType),
      riyadhTime(violation.created_at),
      textOrDash(violation.violation_reference_id),
      textOrDash(violation.towing_reference_ids.join(', ')),
    ]),
  );
}

/** A time without an offset is shown as it was entered, because it is ambiguous. */
function enteredTime(date: string | undefined): string {
  return date !== undefined && hasOffset(date) ? `${riyadhTime(date)} (Riyadh)` : textOrDash(date);
}

function violationLines(violation: ViolationView): string[] {
  const { form, ticket } = violation;
  return [
    ...pairs([
      ['violation', violation.id],
      ['state', violation.state],
      ["service's reference", textOrDash(violation.violation_reference_id)],
      ["service's status", textOrDash(violation.service_status)],
      ['may be towed', textOrDash(violation.can_tow)],
      ['metadata id', violation.metadata_id],
      ['tows', textOrDash(violation.towing_reference_ids.join(', '))],
      ['plate', form.plateType === undefined ? form.plateNumber : `${form.plateNumber} (${form.plateType})`],
      ['type', textOrDash(form.violationType)],
      ['place', `${form.location} (${form.latitude}, ${form.longitude})`],
      ['zone', textOrDash(form.zoneId)],
      ['happened', enteredTime(form.date)],
      ['reported', `${riyadhTime(violation.created_at)} (Riyadh), by ${violation.by}`],
      [
        'images',
        textOrDash(violation.images.map(({ name, size_bytes }) => `${name} (${size_bytes} bytes)`).join(', ')),
      ],
      ['active ticket', ticket === null ? textOrDash(null) : textOrDash(ticket.has_active_ticket)],
      ['attempts', String(violation.attempts)],
      ['next attempt', riyadhTime(violation.next_attempt_at)],
      ['waits for', waitsForText(violation)],
      ['accepted', textOrDash(violation.accepted_how?.replaceAll('_', ' '))],
      ['service answer', textOrDash(violation.last_error?.message)],
      ['hint', textOrDash(violation.hint)],
      ['reason', textOrDash(violation.reason)],
    ]),
    ...section(
      'Warnings',
      violation.warnings.map(({ field, rule }) => `${field} ${rule}`),
    ),
  ];
}
