import type { ReportView, TowView } from '../contracts/operator';
import { pairs, riyadhTime, section, textOrDash, waitsForText, table } from './format';
import type { CommandOutput } from './command';

export function towOutput(tow: TowView): CommandOutput {
  return { json: tow, lines: towLines(tow) };
}

export function towTable(tows: readonly TowView[]): string[] {
  return table(
    ['tow', 'state', 'plate', 'requested (Riyadh)', 'reports', 'tasks'],
    tows.map((tow) => [
      tow.towing_reference_id,
      tow.state,
      textOrDash(tow.plate_number),
      riyadhTime(tow.requested_at),
      tow.reports.map(({ kind, state }) => `${kind} ${state}`).join(', ') || textOrDash(null),
      textOrDash(tow.tasks.length || null),
    ]),
  );
}

function towLines(tow: TowView): string[] {
  const { dispatch } = tow;
  const place = tow.latitude === null ? '' : ` (${tow.latitude}, ${tow.longitude})`;
  const assigned = dispatch.assignment;
  return [
    ...pairs([
      ['tow', tow.towing_reference_id],
      ['violation', [tow.violation_reference_id, tow.violation_id].filter(Boolean).join(', ours: ')],
      ['state', tow.state],
      ['requested', `${riyadhTime(tow.requested_at)} (Riyadh)`],
      ['plate', textOrDash(tow.plate_number)],
      ['place', tow.towed_location === null ? textOrDash(null) : `${tow.towed_location}${place}`],
      ['zone', textOrDash(tow.zone_id)],
      ['violation type', textOrDash(tow.violation_type)],
      ['canceled because', textOrDash(tow.cancellation_reason)],
      ['crew', assigned ? [assigned.crew, assigned.truck].filter(Boolean).join(', truck ') : textOrDash(null)],
      [
        'yard',
        dispatch.yard ? [dispatch.yard.yard, dispatch.yard.slot].filter(Boolean).join(', slot ') : textOrDash(null),
      ],
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
      'Open tasks',
      tow.tasks.map(({ id, message, actions }) => `${id}: ${message} [${actions.join(', ')}]`),
    ),
  ];
}

function factTable(tow: TowView): string[] {
  return table(
    ['fact', 'happened (Riyadh)', 'by'],
    tow.facts.map(({ event, occurred_at, by }) => [event, riyadhTime(occurred_at), by]),
  );
}

function reportTable(reports: readonly ReportView[]): string[] {
  return table(
    ['report', 'state', 'attempts', 'next attempt (Riyadh)', 'waits for', 'answer'],
    reports.map((report) => [
      report.id,
      report.state,
      String(report.attempts),
      riyadhTime(report.next_attempt_at),
      waitsForText(report),
      textOrDash(report.state === 'accepted' ? null : (report.last_error?.message ?? report.reason)),
    ]),
  );
}

function invoiceLine({ source, received_at, towing_invoice, delay_invoice }: TowView['invoices'][number]): string[] {
  const total = (invoice: { readonly [name: string]: unknown } | null) => amountText(invoice?.['total_amount']);
  const delay = delay_invoice === null ? '' : `, delay ${total(delay_invoice)}`;
  return [`${riyadhTime(received_at)}  by ${source}: tow ${total(towing_invoice)}${delay} SAR`];
}

function amountText(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : textOrDash(null);
}
