import type { JsonObject, ReportKind } from '../../src/domain/vocabulary';
import { createRandom, type Random } from './random';
import { violationScenarioOf, type ViolationScenario } from './violation-scenarios';

/** The scenarios of the tows of a run: facts, times and entered fields. */

/** One fact that the crew records. */
export interface ScenarioStep {
  readonly kind: ReportKind;
  readonly entry: JsonObject;
  /** How long the crew waits before it, ms. */
  readonly pauseMs: number;
  /** Whether the crew's clock writes Riyadh time. */
  readonly inRiyadhTime: boolean;
}

export interface TowScenario {
  readonly name: string;
  /** When the service orders the tow, or the patrol reports its violation, ms from the start of the run. */
  readonly arrivesAtMs: number;
  readonly steps: readonly ScenarioStep[];
  /** An invoice webhook comes before the tow is known. */
  readonly hasEarlyInvoice: boolean;
  /** The service posts the tow request again, as another webhook. */
  readonly isRequestedTwice: boolean;
  /**
   * The violation that leads to the tow and provides its plate and place. Null: the service orders the tow by itself.
   */
  readonly violationScenario: ViolationScenario | null;
}

/** One in this many tows begins as a violation. */
export const TOWS_PER_VIOLATION = 5;
/** A violation is reported before its tow is ordered, so such a scenario begins earlier and its steps are faster. */
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
 * The scenarios of a round, spread over `overMs`, in the order in which the service orders the tows. `first` is the
 * number of earlier tows, which makes plates and ids unique in a run.
 */
export function towScenariosOf(seed: number, tows: number, overMs: number, first = 0): TowScenario[] {
  const random = createRandom(seed, 1);
  const scenarios = Array.from({ length: tows }, (_, index) =>
    scenario(random, (index * overMs) / tows, first + index),
  );
  return withViolations(scenarios, createRandom(seed, 6), first);
}

/** One scenario in five begins with a violation; never one with an early invoice, whose tow is not ordered yet. */
function withViolations(scenarios: readonly TowScenario[], random: Random, firstOfRound: number): TowScenario[] {
  const seen = new Map<number, ViolationScenario>();
  for (let first = 0; first + TOWS_PER_VIOLATION <= scenarios.length; first += TOWS_PER_VIOLATION) {
    const places = Array.from({ length: TOWS_PER_VIOLATION }, (_, place) => first + place);
    const index = random.pick(places.filter((place) => scenarios[place]?.hasEarlyInvoice === false));
    seen.set(index, violationScenarioOf(random, firstOfRound + index));
  }
  return scenarios.map((one, index) => {
    const violationScenario = seen.get(index) ?? null;
    if (violationScenario === null) return one;
    const steps = one.steps.map((step) => ({
      ...step,
      pauseMs: Math.round(HURRY * step.pauseMs),
      entry: step.kind === 'started' ? {} : step.entry,
    }));
    return { ...one, arrivesAtMs: EARLIER * one.arrivesAtMs, violationScenario, steps };
  });
}

function scenario(random: Random, arrivesAtMs: number, index: number): TowScenario {
  const name = courseOf(random);
  // Some crews record everything at once, some wait.
  const paceMs = random.pick([0, 200, 1000, 3000]);
  const hasInvoice = name === 'towed, paid, released' || name === 'invoiced on the road';
  const hasEarlyInvoice = hasInvoice && random.chance(0.04);
  return {
    name,
    arrivesAtMs,
    hasEarlyInvoice,
    isRequestedTwice: random.chance(0.03),
    violationScenario: null,
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
