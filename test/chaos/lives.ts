import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import { createRandom, type Random } from './random';

/** The lives the tows of a run lead: which facts, when, and with what words. */

/** One thing the crew says. */
export interface Step {
  readonly kind: ReportKind;
  readonly entry: JsonObject;
  /** How long the crew takes before it, ms. */
  readonly pauseMs: number;
  /** Whether the crew's clock writes Riyadh time. */
  readonly inRiyadhTime: boolean;
}

export interface Life {
  readonly name: string;
  /** When the service orders the tow, ms from the start of the run. */
  readonly arrivesAtMs: number;
  readonly steps: readonly Step[];
  /** An invoice webhook comes before the tow is known. */
  readonly hasEarlyInvoice: boolean;
  /** The service posts the tow request once more, as another webhook. */
  readonly isRequestedTwice: boolean;
}

const PLACES = [
  ['Olaya Street', 24.6946, 46.6853],
  ['King Fahd Road', 24.7136123456789, 46.6753],
  ['شارع التحلية', 24.6997, 46.6811],
  ['Prince Turki Street, gate "B" \\ 2', -24.7423, 0],
] as const;
const REASONS = ['Vehicle gone on arrival', 'Owner returned', 'عاد المالك', 'Wrong vehicle: "plate" misread'] as const;

const COURSES = {
  'towed, paid, released': ['started', 'detained', 'invoice', 'payment', 'released'],
  'invoiced on the road': ['started', 'invoice', 'detained', 'payment', 'released'],
  'released without an invoice': ['started', 'detained', 'released'],
  'let go on the spot': ['started', 'released'],
  'gone on arrival': ['canceled'],
  'canceled on the road': ['started', 'canceled'],
  'canceled in the yard': ['started', 'detained', 'canceled'],
} as const satisfies Record<string, readonly ReportKind[]>;
type Course = keyof typeof COURSES;

/** The lives of a run, in the order in which the service orders the tows, spread over `overMs`. */
export function livesOf(seed: number, tows: number, overMs: number): Life[] {
  const random = createRandom(seed, 1);
  return Array.from({ length: tows }, (_, index) => life(random, (index * overMs) / tows, index));
}

function life(random: Random, arrivesAtMs: number, index: number): Life {
  const name = courseOf(random);
  // Some crews say everything at once, some take their time.
  const paceMs = random.pick([0, 200, 1000, 3000]);
  const hasInvoice = name === 'towed, paid, released' || name === 'invoiced on the road';
  const hasEarlyInvoice = hasInvoice && random.chance(0.04);
  return {
    name,
    arrivesAtMs,
    hasEarlyInvoice,
    isRequestedTwice: random.chance(0.03),
    steps: COURSES[name].map((kind) => ({
      kind,
      entry: entryOf(kind, { random, index, delayInDays: hasEarlyInvoice ? 0 : random.whole(0, 9) }),
      pauseMs: Math.round(paceMs * (0.5 + random.next())),
      inRiyadhTime: random.chance(0.1),
    })),
  };
}

function courseOf(random: Random): Course {
  const die = random.next();
  if (die < 0.56) return 'towed, paid, released';
  if (die < 0.64) return 'invoiced on the road';
  if (die < 0.72) return 'released without an invoice';
  if (die < 0.8) return 'let go on the spot';
  if (die < 0.88) return 'gone on arrival';
  if (die < 0.95) return 'canceled on the road';
  return 'canceled in the yard';
}

function entryOf(kind: ReportKind, of: { random: Random; index: number; delayInDays: number }): JsonObject {
  const { random, index, delayInDays } = of;
  switch (kind) {
    case 'started': {
      const [place, latitude, longitude] = random.pick(PLACES);
      const plate = random.chance(0.3) ? `أ ب ح ${1000 + index}` : `CHS ${1000 + index}`;
      return { plate_number: plate, towed_location: place, latitude, longitude };
    }
    case 'canceled':
      return { cancellation_reason: random.pick(REASONS) };
    case 'invoice':
      return { vehicle_type: 'HEAVY', delay_in_days: delayInDays };
    case 'payment':
      return { payment_status: 'PAID' };
    case 'detained':
    case 'released':
      return {};
  }
}
