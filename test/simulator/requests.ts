import type { OperationName } from '../../src/contracts/service/operations';
import type { Ordered } from './support';

export const ZONE = '7b0c9d1e-3f52-4a68-9b7d-2c4e6f8a0b1c';

/** A complete, valid request of an operation, for an existing tow. */
export function requestOf(name: OperationName, tow: Ordered): Record<string, unknown> {
  const { violation_reference_id, towing_reference_id } = tow;
  const references = { violation_reference_id, towing_reference_id };
  switch (name) {
    case 'token':
      return { 'x-client-id': 'towhook-test', 'x-client-secret': 'secret-of-the-test' };
    case 'started':
      return {
        ...references,
        plate_number: 'ABD 1234',
        towed_location: 'King Fahd Road, Riyadh',
        latitude: 24.7136,
        longitude: 46.6753,
        status_update_time: '2026-03-01T08:30:00Z',
      };
    case 'detained':
    case 'released':
      return references;
    case 'canceled':
      return { ...references, cancellation_reason: 'gone on arrival' };
    case 'invoice':
      return { towing_reference_id, vehicle_type: 'HEAVY', delay_in_days: 2 };
    case 'payment':
      return { towing_reference_id, payment_status: 'PAID' };
    case 'violation':
      return {
        latitude: 24.7136,
        longitude: 46.6753,
        location: 'King Fahd Road, Riyadh',
        plateNumber: 'ABD 1234',
        plateType: 'PRIVATE',
        zoneId: ZONE,
        violationType: 'WRONG_PARKING',
        metadata: { id: 'patrol-1' },
      };
    case 'violation_guide':
      return { plateNumber: 'ABD 1234', plateType: 'Heavy_Equipment', zoneId: ZONE, violationType: 'RESERVED_PARKING' };
    case 'capacity':
      return { zoneId: ZONE };
    case 'ticket':
      return { zoneId: ZONE, plateNumber: 'ABD 1234', plateType: 'TAXI' };
  }
}

/** Fields as strings, for forms, queries and headers: other values as JSON, without null and undefined. */
export function textsOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
}
