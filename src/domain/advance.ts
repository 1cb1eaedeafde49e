import { conflict, forbidden, invalid, type Decision, type FieldRule } from './refusal';
import { delayInDays } from './invoice';
import { occurredAt } from './moment';
import {
  canceledReport,
  invoiceReport,
  paymentReport,
  startedReport,
  statusReport,
  type Owed,
  type ReportStanding,
} from './outbox';
import { previousMoment, transitionAllowed, type InvoiceRequest, type Partially, type Tow } from './tow';
import type { TransitionEvent, Whereabouts } from './tow';
import { roleAllows, type FactEvent, type Role } from './vocabulary';

/** A fact as told by a person; what is left out is taken from the tow, the calendar or the clock. */
export type FactCommand =
  | ({ readonly event: 'started'; readonly occurredAt?: string | undefined } & {
      readonly [K in keyof Whereabouts]?: Whereabouts[K] | undefined;
    })
  | { readonly event: 'detained'; readonly occurredAt?: string | undefined }
  | { readonly event: 'released'; readonly occurredAt?: string | undefined }
  | {
      readonly event: 'canceled';
      readonly cancellationReason: string;
      readonly occurredAt?: string | undefined;
      /** Why a cancel that only ops may give is given. */
      readonly reason?: string | undefined;
    }
  | {
      readonly event: 'invoice';
      readonly vehicleType: string;
      readonly delayInDays?: number | undefined;
      readonly overrideReason?: string | undefined;
    }
  | {
      readonly event: 'payment';
      readonly paymentStatus?: string | undefined;
      readonly externalReference?: string | undefined;
      readonly occurredAt?: string | undefined;
    };

/** The configurable tow rules; the values come from the configuration. */
export interface TowRules {
  readonly vehicleTypes: readonly string[];
  readonly paymentStatuses: readonly string[];
  readonly freeDays: number;
  readonly releaseRequiresPayment: 'invoiced' | 'always' | 'never';
}

/** Everything a decision depends on, so that the same inputs always give the same answer. */
export interface FactContext {
  readonly reports: readonly ReportStanding[];
  readonly rules: TowRules;
  readonly by: string;
  readonly role: Role;
  readonly nowMs: number;
}

/** What a fact changes: the tow, the reports it adds to the outbox, the reports it withdraws from it. */
export type Advance = Decision<{ tow: Tow; owed: Owed; withdraw: readonly string[] }>;

/**
 * The only way a tow moves. Pure: decides what a fact does to a tow, or refuses with the rule that forbids it.
 * Refusals: `transition_not_allowed`, `already_recorded`, `invoice_required`, `payment_required`, `invoice_exists`,
 * `role_not_allowed`, `field_invalid`.
 */
export function advance(tow: Tow, command: FactCommand, context: FactContext): Advance {
  switch (command.event) {
    case 'started':
      return start(tow, command, context);
    case 'detained':
      return detain(tow, command, context);
    case 'released':
      return release(tow, command, context);
    case 'canceled':
      return cancel(tow, command, context);
    case 'invoice':
      return requestInvoice(tow, command, context);
    case 'payment':
      return recordPayment(tow, command, context);
  }
}

/** True when the service holds, or may be about to hold, an invoice for this tow. */
export function isInvoiced(tow: Tow, reports: readonly ReportStanding[]): boolean {
  return tow.invoiceWebhooks.length > 0 || reports.some((r) => r.kind === 'invoice' && r.state !== 'waived');
}

type Command<E extends FactEvent> = Extract<FactCommand, { event: E }>;

function start(tow: Tow, command: Command<'started'>, context: FactContext): Advance {
  const barred = transition(tow, 'started');
  if (barred) return barred;
  const known: Partially<Whereabouts> = {
    plateNumber: given(command.plateNumber) ?? tow.plateNumber,
    towedLocation: given(command.towedLocation) ?? tow.towedLocation,
    latitude: command.latitude ?? tow.latitude,
    longitude: command.longitude ?? tow.longitude,
  };
  const { plateNumber, towedLocation, latitude, longitude } = known;
  if (plateNumber === null || towedLocation === null || latitude === null || longitude === null) {
    return invalid(missingWhereabouts(known));
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  const whereabouts: Whereabouts = { plateNumber, towedLocation, latitude, longitude };
  return {
    ok: true,
    tow: { ...withFact(tow, 'started', when.moment, context), ...whereabouts, state: 'started' },
    owed: startedReport(tow, whereabouts, when.moment),
    withdraw: [],
  };
}

function detain(tow: Tow, command: Command<'detained'>, context: FactContext): Advance {
  const barred = transition(tow, 'detained');
  if (barred) return barred;
  const place = knownWhereabouts(tow);
  if (!place) return conflict('transition_not_allowed', 'The tow has no plate and place yet.');
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'detained', when.moment, context), ...place, state: 'detained' },
    owed: statusReport(tow, 'detained'),
    withdraw: [],
  };
}

function release(tow: Tow, command: Command<'released'>, context: FactContext): Advance {
  const barred = transition(tow, 'released');
  if (barred) return barred;
  const place = knownWhereabouts(tow);
  if (!place) return conflict('transition_not_allowed', 'The tow has no plate and place yet.');
  if (paymentIsMissing(tow, context)) {
    return conflict('payment_required', 'Record the payment before the release.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'released', when.moment, context), ...place, state: 'released' },
    owed: statusReport(tow, 'released'),
    withdraw: [],
  };
}

function cancel(tow: Tow, command: Command<'canceled'>, context: FactContext): Advance {
  const barred = transition(tow, 'canceled');
  if (barred) return barred;
  const reason = given(command.cancellationReason);
  if (reason === undefined) return invalid([{ field: 'cancellation_reason', rule: 'must not be empty' }]);
  const isOps = roleAllows(context.role, 'ops');
  if (tow.state === 'detained' && !isOps) return forbidden('Only ops may cancel a detained tow.');
  if (invoiceMayExist(tow, context.reports) && !(isOps && given(command.reason) !== undefined)) {
    return conflict('invoice_exists', 'The tow has an invoice; only ops may cancel it, with a reason.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'canceled', when.moment, context), state: 'canceled', cancellationReason: reason },
    owed: canceledReport(tow, reason),
    withdraw: context.reports
      .filter((r) => (r.kind === 'invoice' || r.kind === 'payment') && r.state === 'pending' && r.attempts === 0)
      .map((r) => r.id),
  };
}

function requestInvoice(tow: Tow, command: Command<'invoice'>, context: FactContext): Advance {
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
    overrideReason: given(command.overrideReason) ?? null,
  };
  const moment = new Date(context.nowMs).toISOString();
  return {
    ok: true,
    tow: { ...withFact(tow, 'invoice', moment, context), invoiceRequest: request },
    owed: invoiceReport(tow, request),
    withdraw: [],
  };
}

function recordPayment(tow: Tow, command: Command<'payment'>, context: FactContext): Advance {
  if (!isInvoiced(tow, context.reports)) return conflict('invoice_required', 'Request the invoice before its payment.');
  const paymentStatus = command.paymentStatus ?? 'PAID';
  if (!context.rules.paymentStatuses.includes(paymentStatus)) {
    return invalid([{ field: 'payment_status', rule: oneOf(context.rules.paymentStatuses) }]);
  }
  if (tow.payments.some((payment) => payment.paymentStatus === paymentStatus || payment.paymentStatus === 'PAID')) {
    return conflict('already_recorded', 'This payment, or the final PAID, was already recorded.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  const payment = { paymentStatus, externalReference: given(command.externalReference) ?? null };
  return {
    ok: true,
    tow: { ...withFact(tow, 'payment', when.moment, context), payments: [...tow.payments, payment] },
    owed: paymentReport(tow, paymentStatus),
    withdraw: [],
  };
}

function transition(tow: Tow, event: TransitionEvent) {
  if (transitionAllowed(tow.state, event)) return null;
  if (tow.facts.some((fact) => fact.event === event)) {
    return conflict('already_recorded', `The tow was already reported as ${event}.`);
  }
  return conflict('transition_not_allowed', `A tow that is ${tow.state} cannot become ${event}.`);
}

function paymentIsMissing(tow: Tow, context: FactContext): boolean {
  const isPaid = tow.payments.length > 0;
  switch (context.rules.releaseRequiresPayment) {
    case 'never':
      return false;
    case 'always':
      return !isPaid;
    case 'invoiced':
      return !isPaid && isInvoiced(tow, context.reports);
  }
}

/** An invoice that exists at the service or that an attempt may have made; a refused or never attempted one does not count. */
function invoiceMayExist(tow: Tow, reports: readonly ReportStanding[]): boolean {
  if (tow.invoiceWebhooks.length > 0) return true;
  return reports.some((report) => {
    if (report.kind !== 'invoice') return false;
    switch (report.state) {
      case 'sending':
      case 'unknown':
      case 'accepted':
        return true;
      case 'pending':
        return report.attempts > 0;
      case 'refused':
      case 'waived':
        return false;
    }
  });
}

function withFact<T extends Tow>(tow: T, event: FactEvent, moment: string, context: FactContext): T {
  const fact = { event, occurredAt: moment, recordedAt: new Date(context.nowMs).toISOString(), by: context.by };
  return { ...tow, facts: [...tow.facts, fact] };
}

function knownWhereabouts(tow: Tow): Whereabouts | null {
  const { plateNumber, towedLocation, latitude, longitude } = tow;
  if (plateNumber === null || towedLocation === null || latitude === null || longitude === null) return null;
  return { plateNumber, towedLocation, latitude, longitude };
}

function missingWhereabouts(known: Partially<Whereabouts>): FieldRule[] {
  const wireNames = [
    ['plate_number', known.plateNumber],
    ['towed_location', known.towedLocation],
    ['latitude', known.latitude],
    ['longitude', known.longitude],
  ] as const;
  return wireNames
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field, rule: 'is required: the violation of this tow does not give it' }));
}

/** Trimmed text, or undefined when nothing was entered. */
function given(text: string | undefined): string | undefined {
  const trimmed = text?.trim();
  return trimmed === '' ? undefined : trimmed;
}

function oneOf(values: readonly string[]): string {
  return `must be one of ${values.join(', ')}`;
}
