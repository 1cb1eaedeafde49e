import type { FaultRule } from '../../src/simulator/answer/faults';
import { REPORT_KINDS } from '../../src/domain/vocabulary';
import type { Random } from './random';

/** Faults of the service for a period: which calls and webhooks fail, and how often. */
export interface FaultPlan {
  readonly name: string;
  readonly rules: readonly FaultRule[];
}

/** The kinds of fault that must occur in a run, as the simulator records them. */
export const REQUIRED_FAULTS: readonly string[] = [
  '500',
  '429',
  'hang',
  'lost_answer',
  'drop',
  'expired_token',
  'webhook duplicate',
  'webhook reorder',
  'webhook late',
];

export const NO_FAULTS: FaultPlan = { name: 'no faults', rules: [] };

/** Faults of calls with their highest rates. They are low enough that the circuit for an outage does not stay open. */
const CALL_FAULTS = [
  { fault: '500', rateMax: 0.1 },
  { fault: '429', rateMax: 0.08, ms: 1000 },
  { fault: '503', rateMax: 0.03, ms: 500 },
  { fault: '502', rateMax: 0.02 },
  { fault: 'hang', rateMax: 0.05 },
  { fault: 'lost_answer', rateMax: 0.08 },
  { fault: 'drop', rateMax: 0.07 },
  { fault: 'expired_token', rateMax: 0.06 },
  { fault: 'latency', rateMax: 0.1, ms: 400 },
  // The call takes effect, and is answered after its sender gave up.
  { fault: 'late', rateMax: 0.02, ms: 2500 },
] as const;

/** Faults of violations. They have fixed, higher rates, because a run has few violations. */
const VIOLATION_FAULTS = [
  // Slow enough that a worker may be lost during the call.
  { fault: 'latency', rate: 0.3, ms: 1500 },
  { fault: 'lost_answer', rate: 0.15 },
  { fault: 'hang', rate: 0.06 },
  { fault: 'drop', rate: 0.07 },
  { fault: 'late', rate: 0.04, ms: 2500 },
  { fault: '500', rate: 0.1 },
  { fault: '503', rate: 0.03, ms: 500 },
  { fault: '502', rate: 0.02 },
  { fault: '429', rate: 0.08, ms: 1000 },
  { fault: 'expired_token', rate: 0.04 },
  // Refused without a reason: the dispatcher retries it.
  { fault: '400', rate: 0.04 },
] as const;

const WEBHOOK_FAULTS = [
  { fault: 'drop', rateMax: 0.1 },
  { fault: 'lost_answer', rateMax: 0.1 },
  { fault: 'duplicate', rateMax: 0.15 },
  { fault: 'reorder', rateMax: 0.15, ms: 1500 },
  // About as long as an unknown outcome waits for proof.
  { fault: 'late', rateMax: 0.15, ms: 2500 },
  { fault: 'latency', rateMax: 0.2, ms: 7000 },
] as const;

/** Longer than the dispatcher takes to accept a violation whose answer was lost: no tow request proves it before. */
const VERY_LATE = { operation: 'tow_request', fault: 'late', ms: 10_000 } as const;

/** Faults of every kind, at random rates. */
export function mixedFaults(random: Random): FaultPlan {
  return faultPlanOf('mixed faults', (most) => Math.round(most * (0.3 + 0.7 * random.next()) * 1000) / 1000);
}

export const HIGHEST_FAULTS: FaultPlan = faultPlanOf('highest faults', (most) => most);

function faultPlanOf(name: string, rate: (most: number) => number): FaultPlan {
  const calls = CALL_FAULTS.map(({ rateMax, ...fault }) => ({ ...fault, rate: rate(rateMax) }));
  const webhooks = WEBHOOK_FAULTS.map(({ rateMax, ...fault }) => ({ ...fault, rate: rate(rateMax) }));
  return {
    name,
    rules: [
      { operation: 'token', fault: '500', rate: rate(0.05) },
      ...REPORT_KINDS.flatMap((operation) => calls.map((fault) => ({ operation, ...fault }))),
      ...VIOLATION_FAULTS.map((fault) => ({ operation: 'violation' as const, ...fault })),
      { ...VERY_LATE, rate: rate(0.1) },
      ...webhooks.flatMap((fault) => [
        { operation: 'tow_request' as const, ...fault },
        { operation: 'tow_invoice' as const, ...fault },
      ]),
    ],
  };
}

/** Invoices and violations take effect while their answers and webhooks are lost: the dispatcher must look them up. */
export function lostAnswers(random: Random): FaultPlan {
  return {
    name: 'lost answers',
    rules: [
      { operation: 'invoice', fault: 'lost_answer', rate: 0.9 },
      { operation: 'violation', fault: 'lost_answer', rate: 0.5 },
      { operation: 'tow_invoice', fault: 'drop' },
      { ...VERY_LATE, rate: 0.3 },
      ...mixedFaults(random).rules,
    ],
  };
}

/** Every call of the service fails. */
export function outagePlan(random: Random): FaultPlan {
  const fault = random.pick(['500', '503', 'drop', 'hang']);
  return {
    name: `outage (${fault})`,
    rules: [
      { operation: 'token', fault },
      ...REPORT_KINDS.map((operation) => ({ operation, fault })),
      { operation: 'violation', fault },
      { operation: 'tow_request', fault: 'drop' },
      { operation: 'tow_invoice', fault: 'drop' },
    ],
  };
}
