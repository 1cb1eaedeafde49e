import * as fc from 'fast-check';
import type { Advance, FactCommand, FactContext } from '../../src/domain/tow/fact-command';
import type { ReportStatus } from '../../src/domain/outbox/outbox';
import type { Tow } from '../../src/domain/tow/tow';
import { REPORT_STATES, ROLES, type Role } from '../../src/domain/vocabulary';
import { INVOICE_WEBHOOK, nowMs, RULES, towAs } from './tows';

/** Random stories of one tow: commands of people, results of workers, and webhooks in between. */

/** The table of transitions as text: from > event. */
export const ALLOWED = [
  'requested > started',
  'requested > canceled',
  'started > detained',
  'started > canceled',
  'started > released',
  'detained > released',
  'detained > canceled',
];

/** A tow and its outbox at one time. */
export interface StoryWorld {
  readonly tow: Tow;
  readonly reports: readonly ReportStatus[];
  readonly nowMs: number;
}

export interface StoryStep {
  readonly minutesLater: number;
  readonly role: Role;
  readonly command: FactCommand;
  /** The state that a worker left one unsettled report in. */
  readonly settled: {
    readonly pick: number;
    readonly state: ReportStatus['state'];
    /** True when the attempt may have worked; this is never undone. */
    readonly mayHaveWorked: boolean;
    readonly isInFlight: boolean;
  } | null;
  readonly webhook: boolean;
}

const text = fc.constantFrom('ABJ 1234', 'King Fahd Road 12', ' trimmed ', '', '  ');
const perhaps = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined, freq: 3 });
const perhapsText = perhaps(text);
/** Mostly absent; else some minutes around the start of the story in UTC or Riyadh time, or invalid. */
const occurredAt = fc.option(
  fc.oneof(
    fc.integer({ min: -60, max: 600 }).map((minutes) => new Date(nowMs + minutes * 60_000).toISOString()),
    fc
      .integer({ min: -60, max: 600 })
      .map((minutes) => new Date(nowMs + (minutes + 180) * 60_000).toISOString().replace('Z', '+03:00')),
    fc.constant('noon'),
  ),
  { nil: undefined, freq: 1 },
);

const commands: fc.Arbitrary<FactCommand> = fc.oneof(
  fc.record({
    event: fc.constant('started' as const),
    plateNumber: perhapsText,
    towedLocation: perhapsText,
    latitude: perhaps(fc.integer({ min: -90, max: 90 })),
    longitude: perhaps(fc.integer({ min: -180, max: 180 })),
    occurredAt,
  }),
  fc
    .record({ event: fc.constant('started' as const), plateNumber: fc.constant('X'), towedLocation: fc.constant('Y') })
    .map((start): FactCommand => ({ ...start, latitude: 1, longitude: 2 })),
  fc.record({ event: fc.constant('detained' as const), occurredAt }),
  fc.record({ event: fc.constant('released' as const), occurredAt }),
  fc.record({ event: fc.constant('canceled' as const), cancellationReason: text, reason: perhapsText, occurredAt }),
  fc.record({
    event: fc.constant('invoice' as const),
    vehicleType: fc.constantFrom('HEAVY', 'HEAVY', 'LIGHT'),
    delayInDays: perhaps(fc.nat({ max: 9 })),
    overrideReason: perhapsText,
  }),
  fc.record({
    event: fc.constant('payment' as const),
    paymentStatus: fc.constantFrom(undefined, 'PAID', 'PARTIAL', 'LATER'),
    externalReference: perhapsText,
    occurredAt,
  }),
);

export const stories: fc.Arbitrary<StoryStep[]> = fc.array(
  fc.record({
    minutesLater: fc.nat({ max: 90 }),
    role: fc.constantFrom(...ROLES),
    command: commands,
    settled: fc.option(
      fc.record({
        pick: fc.nat({ max: 5 }),
        state: fc.constantFrom(...REPORT_STATES),
        mayHaveWorked: fc.boolean(),
        isInFlight: fc.boolean(),
      }),
    ),
    webhook: fc.integer({ min: 1, max: 10 }).map((die) => die === 10),
  }),
  { minLength: 1, maxLength: 16 },
);

export const newWorld = (): StoryWorld => ({ tow: towAs('requested'), reports: [], nowMs });

export function contextOf(world: StoryWorld, step: StoryStep): FactContext {
  return {
    reports: world.reports,
    rules: { ...RULES, paymentStatuses: ['PARTIAL', 'PAID'] },
    by: 'someone',
    role: step.role,
    clockMs: world.nowMs,
  };
}

/** The world after a decision, and after workers and webhooks until the next command. */
export function after(world: StoryWorld, step: StoryStep, decision: Advance): StoryWorld {
  const tow = decision.ok ? decision.tow : world.tow;
  return {
    tow: step.webhook ? { ...tow, invoiceWebhooks: [...tow.invoiceWebhooks, INVOICE_WEBHOOK] } : tow,
    reports: worked(decision.ok ? withOwed(world.reports, decision) : world.reports, step),
    nowMs: world.nowMs + step.minutesLater * 60_000,
  };
}

function withOwed(reports: readonly ReportStatus[], decision: Extract<Advance, { ok: true }>): ReportStatus[] {
  const kept = reports.map((report) =>
    decision.withdraw.includes(report.id) ? { ...report, state: 'waived' as const } : report,
  );
  const fresh = { state: 'pending', attemptId: null, possibleEffects: 0 } as const;
  return [...kept, { id: `r${reports.length}`, kind: decision.owed.kind, ...fresh }];
}

function worked(reports: readonly ReportStatus[], { settled }: StoryStep): readonly ReportStatus[] {
  if (settled === null) return reports;
  return reports.map((report, index) =>
    index === settled.pick && report.state !== 'accepted' && report.state !== 'waived'
      ? {
          ...report,
          state: settled.state,
          possibleEffects: report.possibleEffects + (settled.mayHaveWorked ? 1 : 0),
          attemptId: settled.state === 'sending' || (settled.state === 'pending' && settled.isInFlight) ? 'a1' : null,
        }
      : report,
  );
}
