import type { InvoiceRequest, Tow, Whereabouts } from './tow';
import type { JsonObject, ReportKind } from './vocabulary';

/**
 * The bodies of the reports that facts owe to the service. A body is fixed when its fact is recorded; only a correction
 * replaces it.
 */

/** A report to append to the outbox. */
export interface Owed {
  readonly kind: ReportKind;
  /** Field names and order as in docs/service-api.md#operations. */
  readonly body: JsonObject;
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

function references(tow: Tow): JsonObject {
  return { violation_reference_id: tow.violationReferenceId, towing_reference_id: tow.towingReferenceId };
}
