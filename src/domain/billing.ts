import { blockedByHold } from './dispatch-rules';
import { conflict, invalid } from './refusal';
import { entered, withFact, type Advance, type Command, type FactContext } from './fact-command';
import { delayInDays } from './invoice';
import { occurredAt } from './moment';
import { invoiceReport, paymentReport, type ReportStanding } from './outbox';
import { previousMoment, type InvoiceRequest, type Payment, type Tow } from './tow';

/** The facts of the office: an invoice is asked for, a payment is made. */

/** Asks for the invoice, once, while the vehicle is ours. */
export function requestInvoice(tow: Tow, command: Command<'invoice'>, context: FactContext): Advance {
  if (tow.invoiceRequest) return conflict('already_recorded', 'The invoice was already requested.');
  if (tow.state !== 'started' && tow.state !== 'detained') {
    return conflict('transition_not_allowed', `An invoice cannot be requested for a tow that is ${tow.state}.`);
  }
  if (!context.rules.vehicleTypes.includes(command.vehicleType)) {
    return invalid([{ field: 'vehicle_type', rule: oneOf(context.rules.vehicleTypes) }]);
  }
  const computedDelayInDays = delayInDays(tow, context.nowMs, context.rules.freeDays);
  const request: InvoiceRequest = {
    vehicleType: command.vehicleType,
    delayInDays: command.delayInDays ?? computedDelayInDays,
    computedDelayInDays,
    overrideReason: entered(command.overrideReason) ?? null,
  };
  const moment = new Date(context.nowMs).toISOString();
  return {
    ok: true,
    tow: { ...withFact(tow, 'invoice', moment, context), invoiceRequest: request },
    owed: invoiceReport(tow, request),
    withdraw: [],
  };
}

/** Records a payment, each status once and nothing after PAID, unless a hold is open. */
export function recordPayment(tow: Tow, command: Command<'payment'>, context: FactContext): Advance {
  if (!isInvoiced(tow, context.reports)) return conflict('invoice_required', 'Request the invoice before its payment.');
  if (!tow.facts.some(({ event }) => event === 'started')) {
    return conflict('transition_not_allowed', 'A tow that was never started has nothing to pay.');
  }
  const blocked = blockedByHold(tow);
  if (blocked) return blocked;
  const paymentStatus = command.paymentStatus ?? 'PAID';
  if (!context.rules.paymentStatuses.includes(paymentStatus)) {
    return invalid([{ field: 'payment_status', rule: oneOf(context.rules.paymentStatuses) }]);
  }
  const recorded = standingPayments(tow, context.reports).map((payment) => payment.paymentStatus);
  if (recorded.includes(paymentStatus) || recorded.includes('PAID')) {
    return conflict('already_recorded', 'This payment, or the final PAID, was already recorded.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  const payment = { paymentStatus, externalReference: entered(command.externalReference) ?? null };
  return {
    ok: true,
    tow: { ...withFact(tow, 'payment', when.moment, context), payments: [...tow.payments, payment] },
    owed: paymentReport(tow, paymentStatus),
    withdraw: [],
  };
}

/** True when the service holds, or may be about to hold, an invoice for this tow. */
export function isInvoiced(tow: Tow, reports: readonly ReportStanding[]): boolean {
  return tow.invoiceWebhooks.length > 0 || reports.some((r) => r.kind === 'invoice' && r.state !== 'waived');
}

/** The place of a payment report among the payments of its tow: each payment has its report, in order. */
export function paymentIndex(reports: readonly ReportStanding[], reportId: string): number {
  return reports.filter(({ kind }) => kind === 'payment').findIndex(({ id }) => id === reportId);
}

/** True when the report of a payment was waived, which takes the payment back. */
export function isWithdrawn(reports: readonly ReportStanding[], index: number): boolean {
  return reports.filter(({ kind }) => kind === 'payment')[index]?.state === 'waived';
}

/** The payments that still count. */
function standingPayments(tow: Tow, reports: readonly ReportStanding[]): Payment[] {
  return tow.payments.filter((_payment, index) => !isWithdrawn(reports, index));
}

/** True when a payment that still counts was recorded. */
export function isPaid(tow: Tow, reports: readonly ReportStanding[]): boolean {
  return standingPayments(tow, reports).length > 0;
}

/** True when there is no release without a payment. */
export function paymentIsNeeded(tow: Tow, { reports, rules }: Pick<FactContext, 'reports' | 'rules'>): boolean {
  switch (rules.releaseRequiresPayment) {
    case 'never':
      return false;
    case 'always':
      return true;
    case 'invoiced':
      return isInvoiced(tow, reports);
  }
}

/** True when the release must wait for the payment. */
export function paymentIsMissing(tow: Tow, context: Pick<FactContext, 'reports' | 'rules'>): boolean {
  return paymentIsNeeded(tow, context) && !isPaid(tow, context.reports);
}

/** An invoice that exists at the service, or that an attempt may have made whatever came of it. */
export function invoiceMayExist(tow: Tow, reports: readonly ReportStanding[]): boolean {
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
        return report.inFlight || report.mayHaveHadEffect;
      case 'waived':
        return false;
    }
  });
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}
