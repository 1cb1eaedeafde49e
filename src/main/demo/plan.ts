import type { JsonObject, ReportKind } from '../../domain/vocabulary';

/** What happens to the tows of the demo: a mix of whole lives, short ones and canceled ones, with faults among them. */

export interface Step {
  readonly kind: ReportKind;
  /** What the crew enters. */
  readonly entry: JsonObject;
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

/** Of twelve tows eight are released after detention, one on the spot, and three are canceled. */
export function planFor(index: number): TowPlan {
  const [place, latitude, longitude] = PLACES[index % PLACES.length] ?? PLACES[0];
  const plate = `DMO ${1000 + index}`;
  const started: Step = {
    kind: 'started',
    entry: { plate_number: plate, towed_location: place, latitude, longitude },
  };
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
    { operation: 'tow_request', fault: 'duplicate', times },
    { operation: 'started', fault: '500', times },
    { operation: 'detained', fault: 'lost_answer', times },
    { operation: 'invoice', fault: 'lost_answer', times },
    { operation: 'released', fault: '429', times, ms: 1000 },
    { operation: 'payment', fault: 'expired_token', times: 1 },
  ];
}
