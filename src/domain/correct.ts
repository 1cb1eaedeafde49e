import type { TowRules } from './fact-command';
import { momentMs, occurredAt } from './moment';
import { isWithdrawn, paymentIndex } from './billing';
import { CORRECTABLE_FIELDS, type ReportStanding } from './outbox';
import { invalid, type Decision, type FieldRule } from './refusal';
import type { Tow } from './tow';
import type { JsonObject, ReportKind } from './vocabulary';

/** New values by wire name; what is left out stays as it was. Types and ranges were checked by the contracts. */
export type Correction = Readonly<Record<string, string | number | undefined>>;

export interface CorrectionContext {
  /** All reports of the tow, the corrected one among them. */
  readonly reports: readonly ReportStanding[];
  readonly fields: Correction;
  readonly rules: TowRules;
  readonly nowMs: number;
}

/**
 * A report's body as a person corrects it, and the tow to match. References can never be corrected, and a time keeps
 * its rules: not in the future, not after the next fact. Old and new values are both kept in `fields`.
 */
export function correct(
  tow: Tow,
  report: { readonly id: string; readonly kind: ReportKind; readonly body: JsonObject },
  context: CorrectionContext,
): Decision<{ body: JsonObject; tow: Tow; fields: JsonObject }> {
  const given = Object.entries(context.fields).filter(([, value]) => value !== undefined);
  const correctable: readonly string[] = CORRECTABLE_FIELDS[report.kind];
  const forbidden = given.filter(([name]) => !correctable.includes(name));
  if (given.length === 0) {
    const rule = correctable.length > 0 ? `needs at least one of ${correctable.join(', ')}` : 'has nothing to correct';
    return invalid([{ field: 'body', rule }]);
  }
  const broken = [
    ...forbidden.map(([field]) => ({ field, rule: 'cannot be corrected' })),
    ...brokenRules(context),
    ...brokenPayment(tow, report.id, context),
  ];
  if (broken.length > 0) return invalid(broken);
  const body: JsonObject = { ...report.body };
  const fields: JsonObject = {};
  for (const [name, value] of given) {
    fields[name] = { old: report.body[name] ?? null, new: value ?? null };
    body[name] = value ?? null;
  }
  if (typeof context.fields['status_update_time'] === 'string') {
    const moment = occurredAt(context.fields['status_update_time'], null, context.nowMs);
    if (!moment.ok) return invalid(moment.refusal.details.map(({ rule }) => ({ field: 'status_update_time', rule })));
    const started = tow.facts.findIndex(({ event }) => event === 'started');
    const next = tow.facts.slice(started + 1).find(({ event }) => event !== 'invoice')?.occurredAt;
    if (next !== undefined && (momentMs(moment.moment) ?? 0) > (momentMs(next) ?? 0)) {
      return invalid([{ field: 'status_update_time', rule: `must not be after the next fact (${next})` }]);
    }
    body['status_update_time'] = moment.moment;
  }
  return {
    ok: true,
    body,
    fields,
    tow: correctedTow(tow, { ...report, index: paymentIndex(context.reports, report.id) }, body),
  };
}

function brokenRules({ fields, rules }: CorrectionContext): FieldRule[] {
  const oneOf = (field: string, values: readonly string[]): FieldRule[] => {
    const value = fields[field];
    const isBroken = typeof value === 'string' && !values.includes(value);
    return isBroken ? [{ field, rule: `must be one of ${values.join(', ')}` }] : [];
  };
  return [...oneOf('vehicle_type', rules.vehicleTypes), ...oneOf('payment_status', rules.paymentStatuses)];
}

/** Each payment status is reported once and nothing after PAID, also when a person corrects one. */
function brokenPayment(tow: Tow, reportId: string, { fields, reports }: CorrectionContext): FieldRule[] {
  const status = fields['payment_status'];
  if (status === undefined) return [];
  const index = paymentIndex(reports, reportId);
  const others = tow.payments
    .map((payment, other) => ({ ...payment, other }))
    .filter(({ other }) => other !== index && !isWithdrawn(reports, other));
  const isTaken = others.some(({ paymentStatus }) => paymentStatus === status);
  const isTooEarly = status === 'PAID' && others.some(({ other }) => other > index);
  return isTaken || isTooEarly ? [{ field: 'payment_status', rule: 'must come once, and PAID last' }] : [];
}

/** The tow says what its reports say. */
function correctedTow(tow: Tow, report: { kind: ReportKind; index: number }, body: JsonObject): Tow {
  switch (report.kind) {
    case 'started':
      return withStart(tow, body);
    case 'canceled':
      return tow.state === 'canceled' ? { ...tow, cancellationReason: textOf(body['cancellation_reason']) } : tow;
    case 'invoice':
      return tow.invoiceRequest
        ? {
            ...tow,
            invoiceRequest: {
              ...tow.invoiceRequest,
              vehicleType: textOf(body['vehicle_type']),
              delayInDays: Number(body['delay_in_days']),
            },
          }
        : tow;
    case 'payment':
      return {
        ...tow,
        payments: tow.payments.map((payment, index) =>
          index === report.index ? { ...payment, paymentStatus: textOf(body['payment_status']) } : payment,
        ),
      };
    case 'detained':
    case 'released':
      return tow;
  }
}

function withStart(tow: Tow, body: JsonObject): Tow {
  const moment = textOf(body['status_update_time']);
  return {
    ...tow,
    plateNumber: textOf(body['plate_number']),
    towedLocation: textOf(body['towed_location']),
    latitude: Number(body['latitude']),
    longitude: Number(body['longitude']),
    facts: tow.facts.map((fact) => (fact.event === 'started' ? { ...fact, occurredAt: moment } : fact)),
  };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
