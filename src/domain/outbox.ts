import type { EntryState } from './entry';
import type { InvoiceRequest, Tow, Whereabouts } from './tow';
import type { JsonObject, ReportKind, ReportState } from './vocabulary';

/**
 * The reports that facts owe to the service. They are sent in order, per tow. The body of a report is fixed when its fact is
 * recorded; only a correction replaces it.
 */

/** A report to append to the outbox. */
export interface Owed {
  readonly kind: ReportKind;
  /** Field names and order as in docs/service-api.md#operations. */
  readonly body: JsonObject;
}

/** A report in the outbox, as far as the rules of facts depend on it. */
export interface ReportStatus {
  readonly id: string;
  readonly kind: ReportKind;
  readonly state: ReportState;
  /** True if an attempt without a clear answer may have changed something at the service. */
  readonly mayHaveHadEffect: boolean;
  /** True while an attempt is in flight. */
  readonly inFlight: boolean;
}

/** docs/service-api.md#tow-started. */
export function startedReport(tow: Tow, whereabouts: Whereabouts, occurredAt: string): Owed {
  return {
    kind: 'started',
    body: {
      ...references(tow),
      plate_number: whereabouts.plateNumber,
      // Open question Q2: what towed_location names is not documented; we send the place the vehicle was taken from.
      towed_location: whereabouts.towedLocation,
      latitude: whereabouts.latitude,
      longitude: whereabouts.longitude,
      status_update_time: occurredAt,
    },
  };
}

/** docs/service-api.md#tow-detained and #tow-released. */
export function statusReport(tow: Tow, kind: 'detained' | 'released'): Owed {
  return { kind, body: references(tow) };
}

/** docs/service-api.md#tow-canceled. */
export function canceledReport(tow: Tow, cancellationReason: string): Owed {
  return { kind: 'canceled', body: { ...references(tow), cancellation_reason: cancellationReason } };
}

/** docs/service-api.md#create-tow-invoice. */
export function invoiceReport(tow: Tow, request: InvoiceRequest): Owed {
  return {
    kind: 'invoice',
    body: {
      towing_reference_id: tow.towingReferenceId,
      vehicle_type: request.vehicleType,
      delay_in_days: request.delayInDays,
    },
  };
}

/** docs/service-api.md#update-payment-status. */
export function paymentReport(tow: Tow, paymentStatus: string): Owed {
  return {
    kind: 'payment',
    body: { towing_reference_id: tow.towingReferenceId, payment_status: paymentStatus },
  };
}

/** How calls of one kind are sent. The rest of the outbox is the same for all kinds. */
export interface SendingPolicy {
  /** False for a call that creates something: sending it twice may create two. */
  readonly safeToRepeat: boolean;
  /** How many attempts may be left unanswered before a person decides. */
  readonly unansweredMax: number;
  /** How many unanswered attempts stay open after a manual retry. */
  readonly openAfterRetry: number;
  /** True for reports that say where a vehicle is. They get rate limit permits first. */
  readonly isUrgent: boolean;
}

/** True once a report is accepted or waived, so that the next one may leave. */
export function isSettled(state: EntryState): state is SettledState {
  return state === 'accepted' || state === 'waived';
}

type SettledState = 'accepted' | 'waived';
type Reported = { readonly state: EntryState };
/** A report that is still owed. */
export type Unsettled<R extends Reported> = R & { readonly state: Exclude<EntryState, SettledState> };

export function isUnsettled<R extends Reported>(report: R): report is Unsettled<R> {
  return !isSettled(report.state);
}

/** The head of an outbox, whose reports are in order; undefined when all are settled. */
export function headOf<R extends Reported>(reports: readonly R[]): Unsettled<R> | undefined {
  return reports.find(isUnsettled);
}

function references(tow: Tow): JsonObject {
  return { violation_reference_id: tow.violationReferenceId, towing_reference_id: tow.towingReferenceId };
}
