import type { OperationName, RequestOf } from '../../src/contracts/service/operations';
import { towingReference, violationReference } from '../../src/domain/stored';

/** One message of each kind as in the service's documentation. */

const towing = towingReference.parse('TW-20260310-AAAAAA');
const violation = violationReference.parse('V-20260310-BBBBBB');
const references = { violation_reference_id: violation, towing_reference_id: towing };
const guideForm = {
  plateNumber: 'ABJ 1234',
  plateType: 'PRIVATE',
  zoneId: '3f2504e0-4f89-11d3-9a0c-0305e82c3301',
  violationType: 'NO_TICKET',
} as const;
const charge = { total_amount: 345, paid_amount: 0, tax: 45 };

/** A request of each operation with all fields. */
export const REQUESTS = {
  token: null,
  started: {
    ...references,
    plate_number: 'ABJ 1234',
    towed_location: 'King Fahd Road 12',
    latitude: 24.7136,
    longitude: 46.6753,
    status_update_time: '2026-03-10T10:00:00Z',
  },
  detained: references,
  canceled: { ...references, cancellation_reason: 'gone on arrival' },
  released: references,
  invoice: { towing_reference_id: towing, vehicle_type: 'HEAVY', delay_in_days: 3 },
  payment: { towing_reference_id: towing, payment_status: 'PAID' },
  violation: {
    date: '2026-03-10T09:00:00Z',
    latitude: 24.7136,
    longitude: 46.6753,
    location: 'King Fahd Road 12',
    ...guideForm,
    imagesDescription: 'front and plate',
    isSaudi: true,
    metadata: { id: 'case-7' },
    fullName: 'R. Reporter',
    identityNumber: '1000000000',
    mobileNumber: '0500000000',
    supervisorFullName: 'S. Supervisor',
    supervisorIdentityNumber: '2000000000',
    supervisorMobileNumber: '0511111111',
  },
  violation_guide: guideForm,
  capacity: { zoneId: 'zone-1' },
  ticket: { zoneId: 'zone-1', plateNumber: 'ABJ 1234', plateType: 'PRIVATE' },
} as const satisfies { [N in OperationName]: RequestOf<N> };

const towAnswer = { towing_reference_id: towing, metadata: { id: 'case-7' } };

/** The `data` of each operation's answer. */
export const ANSWERS = {
  token: { token: 'ey.abc.def' },
  started: towAnswer,
  detained: towAnswer,
  canceled: towAnswer,
  released: towAnswer,
  invoice: { ...towAnswer, towing_invoice: charge, delay_invoice: charge },
  payment: towAnswer,
  violation: { violation_reference_id: violation, status: 'PENDING', metadata: { id: 'case-7' } },
  violation_guide: { id: 'abc', canTow: true },
  capacity: { zoneId: 'zone-1', availableSlots: 4 },
  ticket: { hasActiveTicket: false },
} as const satisfies Record<OperationName, object>;

const webhookCharge = { invoice_number: 'INV-1', vat_number: '300000000000003', ...charge };

export const WEBHOOK_BODIES = {
  tow_request: { ...references, metadata: { id: 'case-7' } },
  tow_invoice: {
    ...references,
    towing_invoice: webhookCharge,
    delay_invoice: webhookCharge,
    metadata: { id: 'case-7' },
  },
} as const;

/** An object without one of its fields. */
export function without(message: object, field: string): object {
  return Object.fromEntries(Object.entries(message).filter(([name]) => name !== field));
}
