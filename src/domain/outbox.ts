import type { InvoiceRequest, Tow, Whereabouts } from './tow';
import type { JsonObject, ReportKind, ReportState } from './vocabulary';

/**
 * The outbox: what is owed to the service after each fact, strictly first in, first out per tow.
 * The body of a report is frozen when its fact is recorded; only `correct` (a person) replaces it.
 */

/** A report about to be appended: one call owed to the service. */
export interface Owed {
  readonly kind: ReportKind;
  /** Field names and order as in service-api 4.2 to 4.4. */
  readonly body: JsonObject;
}

/** What the rules need to know of a report already in the outbox. */
export interface ReportStanding {
  readonly id: string;
  readonly kind: ReportKind;
  readonly state: ReportState;
  /** True when an attempt may have changed something at the service although no answer said so. */
  readonly mayHaveHadEffect: boolean;
  /** True while a worker holds the tow's lease for this report. */
  readonly inFlight: boolean;
}

/** service-api 4.2, started. */
export function startedReport(tow: Tow, whereabouts: Whereabouts, moment: string): Owed {
  return {
    kind: 'started',
    body: {
      ...references(tow),
      plate_number: whereabouts.plateNumber,
      // Open question Q2: what towed_location names is not documented; we send the place the vehicle was taken from.
      towed_location: whereabouts.towedLocation,
      latitude: whereabouts.latitude,
      longitude: whereabouts.longitude,
      status_update_time: moment,
    },
  };
}

/** service-api 4.2, detained and released. */
export function statusReport(tow: Tow, kind: 'detained' | 'released'): Owed {
  return { kind, body: references(tow) };
}

/** service-api 4.2, canceled. */
export function canceledReport(tow: Tow, cancellationReason: string): Owed {
  return { kind: 'canceled', body: { ...references(tow), cancellation_reason: cancellationReason } };
}

/** service-api 4.3. */
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

/** service-api 4.4. */
export function paymentReport(tow: Tow, paymentStatus: string): Owed {
  return {
    kind: 'payment',
    body: { towing_reference_id: tow.towingReferenceId, payment_status: paymentStatus },
  };
}

/** The fields of each report that a person may correct; references are never among them. */
export const CORRECTABLE_FIELDS = {
  started: ['plate_number', 'towed_location', 'latitude', 'longitude', 'status_update_time'],
  detained: [],
  canceled: ['cancellation_reason'],
  released: [],
  invoice: ['vehicle_type', 'delay_in_days'],
  payment: ['payment_status'],
} as const satisfies Record<ReportKind, readonly string[]>;

/** True once nothing more will be done for a report, so that the next one may leave. */
export function isSettled(state: ReportState): boolean {
  return state === 'accepted' || state === 'waived';
}

function references(tow: Tow): JsonObject {
  return { violation_reference_id: tow.violationReferenceId, towing_reference_id: tow.towingReferenceId };
}
