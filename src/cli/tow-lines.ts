import type { Report, Tow } from '../client';
import { pairs, riyadhTime, section, shown, table } from './words';
import type { Shown } from './verb';

/** A tow as people read it. */
export function shownTow(tow: Tow): Shown {
  return { json: tow, lines: towLines(tow) };
}

/** One line per tow. */
export function towTable(tows: readonly Tow[]): string[] {
  return table(
    ['tow', 'state', 'plate', 'requested (Riyadh)', 'reports', 'tasks'],
    tows.map((tow) => [
      tow.towing_reference_id,
      tow.state,
      shown(tow.plate_number),
      riyadhTime(tow.requested_at),
      tow.reports.map(({ kind, state }) => `${kind} ${state}`).join(', ') || shown(null),
      shown(tow.tasks.length || null),
    ]),
  );
}

function towLines(tow: Tow): string[] {
  const { dispatch } = tow;
  const place = tow.latitude === null ? '' : ` (${tow.latitude}, ${tow.longitude})`;
  const assigned = dispatch.assignment;
  return [
    ...pairs([
      ['tow', tow.towing_reference_id],
      ['violation', [tow.violation_reference_id, tow.violation_id].filter(Boolean).join(', ours: ')],
      ['state', tow.state],
      ['requested', `${riyadhTime(tow.requested_at)} (Riyadh)`],
      ['plate', shown(tow.plate_number)],
      ['place', tow.towed_location === null ? shown(null) : `${tow.towed_location}${place}`],
      ['zone', shown(tow.zone_id)],
      ['violation type', shown(tow.violation_type)],
      ['canceled because', shown(tow.cancellation_reason)],
      ['crew', assigned ? [assigned.crew, assigned.truck].filter(Boolean).join(', truck ') : shown(null)],
      ['yard', dispatch.yard ? [dispatch.yard.yard, dispatch.yard.slot].filter(Boolean).join(', slot ') : shown(null)],
    ]),
    ...section('Facts', tow.facts.length === 0 ? [] : factTable(tow)),
    ...section('Reports', tow.reports.length === 0 ? [] : reportTable(tow.reports)),
    ...section('Invoices', tow.invoices.flatMap(invoiceLine)),
    ...section(
      'Steps of the crew',
      dispatch.steps.map(({ step, occurred_at, by }) => `${riyadhTime(occurred_at)}  ${step}, by ${by}`),
    ),
    ...section(
      'Holds',
      dispatch.holds.map(
        ({ id, reason, lifted }) => `${id}  ${lifted ? 'lifted' : 'BLOCKS payment and release'}: ${reason}`,
      ),
    ),
    ...section(
      'Notes',
      dispatch.notes.map(({ text, at, by }) => `${riyadhTime(at)}  ${text} (${by})`),
    ),
    ...section(
      'Photos',
      dispatch.photos.map(({ id, name, size_bytes }) => `${id}  ${name}, ${size_bytes} bytes`),
    ),
    ...section(
      'What a person must decide',
      tow.tasks.map(({ id, message, actions }) => `${id}: ${message} [${actions.join(', ')}]`),
    ),
  ];
}

function factTable(tow: Tow): string[] {
  return table(
    ['fact', 'happened (Riyadh)', 'by'],
    tow.facts.map(({ event, occurred_at, by }) => [event, riyadhTime(occurred_at), by]),
  );
}

function reportTable(reports: readonly Report[]): string[] {
  return table(
    ['report', 'state', 'attempts', 'next attempt (Riyadh)', 'waits for', 'said'],
    reports.map((report) => [
      report.id,
      report.state,
      String(report.attempts),
      riyadhTime(report.next_attempt_at),
      shown(report.waits_for),
      shown(report.state === 'accepted' ? null : (report.last_error?.message ?? report.reason)),
    ]),
  );
}

function invoiceLine({ source, received_at, towing_invoice, delay_invoice }: Tow['invoices'][number]): string[] {
  const total = (invoice: { readonly [name: string]: unknown } | null) => shownAmount(invoice?.['total_amount']);
  const delay = delay_invoice === null ? '' : `, delay ${total(delay_invoice)}`;
  return [`${riyadhTime(received_at)}  by ${source}: tow ${total(towing_invoice)}${delay} SAR`];
}

function shownAmount(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : shown(null);
}
