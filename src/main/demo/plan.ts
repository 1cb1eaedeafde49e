import type { JsonObject, ReportKind } from '../../domain/vocabulary';

/** What happens to the tows of the demo: a mix of whole lives, short ones and canceled ones, with faults among them. */

export interface Step {
  readonly kind: ReportKind;
  /** What the crew enters. */
  readonly entry: JsonObject;
  /** What is known without being entered. */
  readonly known?: JsonObject;
}

export interface TowPlan {
  readonly name: string;
  readonly steps: readonly Step[];
}

const detained: Step = { kind: 'detained', entry: {} };
const invoice: Step = { kind: 'invoice', entry: { vehicle_type: 'HEAVY' } };
const payment: Step = { kind: 'payment', entry: { payment_status: 'PAID' } };
const released: Step = { kind: 'released', entry: {} };
const canceled = (reason: string): Step => ({ kind: 'canceled', entry: { cancellation_reason: reason } });

const PLACES = [
  ['Olaya Street', 24.6946, 46.6853],
  ['King Fahd Road', 24.7136, 46.6753],
  ['Tahlia Street', 24.6997, 46.6811],
  ['Prince Turki Street', 24.7423, 46.6431],
] as const;

/** Which vehicle it is, and where it stands. */
export function whereOf(index: number) {
  const [place, latitude, longitude] = PLACES[index % PLACES.length] ?? PLACES[0];
  return { plate_number: `DMO ${1000 + index}`, towed_location: place, latitude, longitude };
}

/**
 * Of twelve tows eight are released after detention, one on the spot, and three are canceled. One that began with a
 * sighting is started without a word about plate and place: its violation tells.
 */
export function planFor(index: number, { wasSighted }: { wasSighted: boolean }): TowPlan {
  const where = whereOf(index);
  const started: Step = wasSighted ? { kind: 'started', entry: {}, known: where } : { kind: 'started', entry: where };
  switch (index % 12) {
    case 3:
      return { name: 'gone on arrival', steps: [canceled('Vehicle gone on arrival')] };
    case 6:
      return { name: 'let go on the spot', steps: [started, released] };
    case 8:
      return { name: 'canceled while towing', steps: [started, canceled('Owner returned and moved the vehicle')] };
    case 10:
      return { name: 'gone on arrival', steps: [canceled('Vehicle gone on arrival')] };
    default:
      return { name: 'towed, paid, released', steps: [started, detained, invoice, payment, released] };
  }
}

/** The faults the service is made to have, some of each per dozen tows. */
export function faultsFor(tows: number): JsonObject[] {
  const times = Math.max(1, Math.round(tows / 12));
  return [
    { operation: 'violation', fault: 'lost_answer', times: 1 },
    { operation: 'tow_request', fault: 'duplicate', times },
    { operation: 'started', fault: '500', times },
    { operation: 'detained', fault: 'lost_answer', times },
    { operation: 'invoice', fault: 'lost_answer', times },
    { operation: 'released', fault: '429', times, ms: 1000 },
    { operation: 'payment', fault: 'expired_token', times: 1 },
  ];
}
