import type { FaultRule } from '../../src/simulator/faults';
import { REPORT_KINDS } from '../../src/domain/vocabulary';
import type { Random } from './random';

/** How the service behaves for a while: what of its calls and webhooks goes wrong, and how often. */
export interface Weather {
  readonly name: string;
  readonly rules: readonly FaultRule[];
}

/** The kinds of fault that a run must have played, as its record names them. */
export const FAULTS_PLAYED: readonly string[] = [
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

export const CALM: Weather = { name: 'calm', rules: [] };

/**
 * What goes wrong with calls in a storm, and with how many of them at most: so few that the service does not seem to be
 * out of order for long, or hardly a call would be made.
 */
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
  // Works, and answers when nobody listens any more.
  { fault: 'late', rateMax: 0.02, ms: 2500 },
] as const;

/**
 * What goes wrong with violations in every storm: there are few of them, so that more must be hit and no dice may leave
 * one kind out.
 */
const VIOLATION_FAULTS = [
  // So long on their way that a worker may be lost over one.
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
  // Refused, for no reason: a person sends it again.
  { fault: '400', rate: 0.04 },
] as const;

const WEBHOOK_FAULTS = [
  { fault: 'drop', rateMax: 0.1 },
  { fault: 'lost_answer', rateMax: 0.1 },
  { fault: 'duplicate', rateMax: 0.15 },
  { fault: 'reorder', rateMax: 0.15, ms: 1500 },
  // Around the time for which an unknown outcome waits for its proof.
  { fault: 'late', rateMax: 0.15, ms: 2500 },
  { fault: 'latency', rateMax: 0.2, ms: 7000 },
] as const;

/** Faults of every kind, each at a rate drawn for this storm. */
export function storm(random: Random): Weather {
  return stormOf('storm', (most) => Math.round(most * (0.3 + 0.7 * random.next()) * 1000) / 1000);
}

/** Faults of every kind at their highest rates. */
export const DOWNPOUR: Weather = stormOf('downpour', (most) => most);

function stormOf(name: string, rate: (most: number) => number): Weather {
  const calls = CALL_FAULTS.map(({ rateMax, ...fault }) => ({ ...fault, rate: rate(rateMax) }));
  const webhooks = WEBHOOK_FAULTS.map(({ rateMax, ...fault }) => ({ ...fault, rate: rate(rateMax) }));
  return {
    name,
    rules: [
      { operation: 'token', fault: '500', rate: rate(0.05) },
      ...REPORT_KINDS.flatMap((operation) => calls.map((fault) => ({ operation, ...fault }))),
      ...VIOLATION_FAULTS.map((fault) => ({ operation: 'violation' as const, ...fault })),
      ...webhooks.flatMap((fault) => [
        { operation: 'tow_request' as const, ...fault },
        { operation: 'tow_invoice' as const, ...fault },
      ]),
    ],
  };
}

/**
 * A storm in which invoices are made and violations taken, and nobody hears of it: a person must look them up at the
 * service.
 */
export function silence(random: Random): Weather {
  return {
    name: 'silence',
    rules: [
      { operation: 'invoice', fault: 'lost_answer', rate: 0.9 },
      { operation: 'violation', fault: 'lost_answer', rate: 0.5 },
      { operation: 'tow_invoice', fault: 'drop' },
      ...storm(random).rules,
    ],
  };
}

/** Nothing works at the service, in one way or another. */
export function outage(random: Random): Weather {
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
