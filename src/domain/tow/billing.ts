import { blockedByHold } from './dispatch-rules';
import { conflict, invalid } from '../refusal';
import { bodyText, entered, withFact, type Advance, type FactCommand, type FactContext } from './fact-command';
import { isoTimestamp, occurredAt, riyadhDaysBetween, timestampMs } from '../timestamp';
import type { ReportStatus } from '../outbox/outbox';
import { owedReport } from './report-bodies';
import { previousTimestamp, type InvoiceRequest, type Payment, type Tow } from './tow';
import type { JsonObject } from '../vocabulary';

/** Requests the invoice: once, while the tow is started or detained. */
export function requestInvoice(tow: Tow, command: FactCommand<'invoice'>, context: FactContext): Advance {
  if (tow.invoiceRequest) return conflict('already_recorded', 'The invoice was already requested.');
  if (tow.state !== 'started' && tow.state !== 'detained') {
    return conflict('transition_not_allowed', `An invoice cannot be requested for a tow that is ${tow.state}.`);
  }
  const { vehicleType } = command;
  if (vehicleType === undefined || !context.rules.vehicleTypes.includes(vehicleType)) {
    return invalid([{ field: 'vehicle_type', rule: oneOf(context.rules.vehicleTypes) }]);
  }
  const computedDelayInDays = delayOf(tow, context.clockMs, context.rules.freeDays).days;
  const request: InvoiceRequest = {
    vehicleType,
    delayInDays: command.delayInDays ?? computedDelayInDays,
    computedDelayInDays,
    overrideReason: entered(command.overrideReason) ?? null,
  };
  const nowIso = isoTimestamp(context.clockMs);
  return {
    ok: true,
    tow: { ...withFact(tow, 'invoice', nowIso, context), invoiceRequest: request },
    owed: owedReport(tow, 'invoice', { vehicleType, delayInDays: request.delayInDays }),
    withdraw: [],
  };
}

/** The days of delay to invoice, and how they are computed. */
export interface Delay {
  readonly days: number;
  /** When the vehicle was detained; null if it was not. */
  readonly detainedAt: string | null;
  /** Calendar days since then. */
  readonly daysCounted: number;
  /** Days that are not charged. */
  readonly freeDays: number;
}

/**
 * The days of delay to invoice: whole Asia/Riyadh calendar days from the detained fact to `clockMs`, less the free days,
 * never below 0; 0 when the vehicle was not detained.
 * Open question Q3: what exactly delay_in_days counts is not documented; storage days in Riyadh is our reading.
 */
export function delayOf(tow: Tow, clockMs: number, freeDays: number): Delay {
  const detainedAt = tow.facts.find((fact) => fact.event === 'detained')?.occurredAt ?? null;
  const detainedMs = detainedAt === null ? null : timestampMs(detainedAt);
  if (detainedMs === null) return { days: 0, detainedAt: null, daysCounted: 0, freeDays };
  const daysCounted = Math.max(0, riyadhDaysBetween(detainedMs, clockMs));
  return { days: Math.max(0, daysCounted - freeDays), detainedAt, daysCounted, freeDays };
}

/** Records a payment: each status once, nothing after PAID. Refused while a hold is open. */
export function recordPayment(tow: Tow, command: FactCommand<'payment'>, context: FactContext): Advance {
  if (!isInvoiced(tow, context.reports)) return conflict('invoice_required', 'Request the invoice before its payment.');
  if (!tow.facts.some(({ event }) => event === 'started')) {
    return conflict('transition_not_allowed', 'A tow that was never started has nothing to pay.');
  }
  const paymentStatus = command.paymentStatus ?? 'PAID';
  const recorded = countedPayments(tow, context.reports).map((payment) => payment.paymentStatus);
  // Before the hold: lifting it would not make this payment possible.
  if (recorded.includes(paymentStatus) || recorded.includes('PAID')) {
    return conflict('already_recorded', 'This payment, or the final PAID, was already recorded.');
  }
  const blocked = blockedByHold(tow);
  if (blocked) return blocked;
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  if (!context.rules.paymentStatuses.includes(paymentStatus)) {
    const broken = { field: 'payment_status', rule: oneOf(context.rules.paymentStatuses) };
    return invalid([broken, ...(when.ok ? [] : when.refusal.details)]);
  }
  if (!when.ok) return when;
  const payment = { paymentStatus, externalReference: entered(command.externalReference) ?? null };
  return {
    ok: true,
    tow: { ...withFact(tow, 'payment', when.timestamp, context), payments: [...tow.payments, payment] },
    owed: owedReport(tow, 'payment', { paymentStatus }),
    withdraw: [],
  };
}

/** The tow after its invoice report got a corrected body. */
export function correctInvoice(tow: Tow, body: JsonObject): Tow {
  const { invoiceRequest } = tow;
  if (invoiceRequest === null) return tow;
  const corrected = { vehicleType: bodyText(body, 'vehicle_type'), delayInDays: Number(body['delay_in_days']) };
  return { ...tow, invoiceRequest: { ...invoiceRequest, ...corrected } };
}

/** The tow after the report of the payment at `index` got a corrected body. */
export function correctPayment(tow: Tow, body: JsonObject, index: number): Tow {
  const paymentStatus = bodyText(body, 'payment_status');
  return {
    ...tow,
    payments: tow.payments.map((payment, at) => (at === index ? { ...payment, paymentStatus } : payment)),
  };
}

/**
 * True if the service has an invoice for this tow, or its request is in the outbox. A waived request does not count here, but
 * a second request is refused nevertheless: `tow.invoiceRequest` shows whether there was one.
 */
export function isInvoiced(tow: Tow, reports: readonly ReportStatus[]): boolean {
  return tow.invoiceWebhooks.length > 0 || reports.some((r) => r.kind === 'invoice' && r.state !== 'waived');
}

/** The place of a payment report among the payments of its tow: reports and payments have the same order. */
export function paymentIndex(reports: readonly ReportStatus[], reportId: string): number {
  return reports.filter(({ kind }) => kind === 'payment').findIndex(({ id }) => id === reportId);
}

/** True if the report of a payment was waived. The payment then no longer counts. */
export function isWithdrawn(reports: readonly ReportStatus[], index: number): boolean {
  return reports.filter(({ kind }) => kind === 'payment')[index]?.state === 'waived';
}

function countedPayments(tow: Tow, reports: readonly ReportStatus[]): Payment[] {
  return tow.payments.filter((_payment, index) => !isWithdrawn(reports, index));
}

/** True if at least one payment counts. */
export function isPaid(tow: Tow, reports: readonly ReportStatus[]): boolean {
  return countedPayments(tow, reports).length > 0;
}

/** True if a release requires a payment. */
export function paymentIsNeeded(tow: Tow, { reports, rules }: Pick<FactContext, 'reports' | 'rules'>): boolean {
  switch (rules.releaseRequiresPayment) {
    case 'never':
      return false;
    case 'always':
      // A waived request is final, and a tow without an invoice has nothing to pay.
      return tow.invoiceRequest === null || isInvoiced(tow, reports);
    case 'invoiced':
      return isInvoiced(tow, reports);
  }
}

/** True if a release requires a payment that is missing. */
export function paymentIsMissing(tow: Tow, context: Pick<FactContext, 'reports' | 'rules'>): boolean {
  return paymentIsNeeded(tow, context) && !isPaid(tow, context.reports);
}

/** True if the service has an invoice for this tow, or an attempt may have created one. */
export function invoiceMayExist(tow: Tow, reports: readonly ReportStatus[]): boolean {
  if (tow.invoiceWebhooks.length > 0) return true;
  return reports.some((report) => {
    if (report.kind !== 'invoice') return false;
    switch (report.state) {
      case 'sending':
      case 'unknown':
      case 'accepted':
        return true;
      case 'pending':
      case 'refused':
        return report.attemptId !== null || report.possibleEffects > 0;
      case 'waived':
        return false;
    }
  });
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}
