import type { Violation } from '../client';
import type { Shown } from './verb';
import { pairs, riyadhTime, section, shown, table } from './words';

/** A violation as people read it. */
export function shownViolation(violation: Violation): Shown {
  return { json: violation, lines: violationLines(violation) };
}

/** One line per violation. */
export function violationTable(violations: readonly Violation[]): string[] {
  return table(
    ['violation', 'state', 'plate', 'type', 'reported (Riyadh)', 'service', 'tows'],
    violations.map((violation) => [
      violation.id,
      violation.state,
      violation.form.plateNumber,
      violation.form.violationType,
      riyadhTime(violation.created_at),
      shown(violation.violation_reference_id),
      shown(violation.towing_reference_ids.join(', ')),
    ]),
  );
}

function violationLines(violation: Violation): string[] {
  const { form, ticket } = violation;
  return [
    ...pairs([
      ['violation', violation.id],
      ['state', violation.state],
      ["service's name", shown(violation.violation_reference_id)],
      ["service's status", shown(violation.service_status)],
      ['may be towed', shown(violation.can_tow)],
      ['metadata id', violation.metadata_id],
      ['tows', shown(violation.towing_reference_ids.join(', '))],
      ['plate', `${form.plateNumber} (${form.plateType})`],
      ['type', form.violationType],
      ['place', `${form.location} (${form.latitude}, ${form.longitude})`],
      ['zone', form.zoneId],
      ['happened', form.date === undefined ? shown(null) : `${riyadhTime(form.date)} (Riyadh)`],
      ['reported', `${riyadhTime(violation.created_at)} (Riyadh), by ${violation.by}`],
      ['images', shown(violation.images.map(({ name, size_bytes }) => `${name} (${size_bytes} bytes)`).join(', '))],
      ['active ticket', ticket === null ? shown(null) : shown(ticket.has_active_ticket)],
      ['attempts', String(violation.attempts)],
      ['next attempt', riyadhTime(violation.next_attempt_at)],
      ['waits for', shown(violation.waits_for)],
      ['accepted', shown(violation.accepted_how?.replaceAll('_', ' '))],
      ['service said', shown(violation.last_error?.message)],
      ['hint', shown(violation.hint)],
      ['reason', shown(violation.reason)],
    ]),
    ...section(
      'Warnings',
      violation.warnings.map(({ field, rule }) => `${field} ${rule}`),
    ),
  ];
}
