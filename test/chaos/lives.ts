import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import { createRandom, type Random } from './random';
import { sightingOf, type Sighting } from './sightings';

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
  /** When the service orders the tow, or the patrol reports the violation it comes from, ms from the start of the run. */
  readonly arrivesAtMs: number;
  readonly steps: readonly Step[];
  /** An invoice webhook comes before the tow is known. */
  readonly hasEarlyInvoice: boolean;
  /** The service posts the tow request once more, as another webhook. */
  readonly isRequestedTwice: boolean;
  /** The violation the tow comes from; its plate and place are told by nobody else then. Null: the service orders it. */
  readonly sighting: Sighting | null;
}

/** One in so many tows begins as a violation of ours. */
export const TOWS_PER_VIOLATION = 5;
/** A violation is reported before its tow is ordered: such a life begins earlier, and its crew is near and hurries. */
const EARLIER = 0.5;
const HURRY = 0.3;

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

/**
 * The lives of a round, in the order in which the service orders the tows, spread over `overMs`. `first` is the number of
 * tows in the rounds before it: plates and names of a run are unique.
 */
export function livesOf(seed: number, tows: number, overMs: number, first = 0): Life[] {
  const random = createRandom(seed, 1);
  const lives = Array.from({ length: tows }, (_, index) => life(random, (index * overMs) / tows, first + index));
  return withSightings(lives, createRandom(seed, 6), first);
}

/** One life in every five begins as a violation; never one with an early invoice, which names a tow that is not ordered. */
function withSightings(lives: readonly Life[], random: Random, firstOfRound: number): Life[] {
  const seen = new Map<number, Sighting>();
  for (let first = 0; first + TOWS_PER_VIOLATION <= lives.length; first += TOWS_PER_VIOLATION) {
    const places = Array.from({ length: TOWS_PER_VIOLATION }, (_, place) => first + place);
    const index = random.pick(places.filter((place) => lives[place]?.hasEarlyInvoice === false));
    seen.set(index, sightingOf(random, firstOfRound + index));
  }
  return lives.map((one, index) => {
    const sighting = seen.get(index) ?? null;
    if (sighting === null) return one;
    const steps = one.steps.map((step) => ({
      ...step,
      pauseMs: Math.round(HURRY * step.pauseMs),
      entry: step.kind === 'started' ? {} : step.entry,
    }));
    return { ...one, arrivesAtMs: EARLIER * one.arrivesAtMs, sighting, steps };
  });
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
    sighting: null,
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
