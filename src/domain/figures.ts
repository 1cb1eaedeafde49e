import { DELIVERY_KINDS, REPORT_KINDS } from './vocabulary';
import type { Verdict } from './policy';

/**
 * What is counted of the work of all processes, minute by minute, and how a line of a chart is computed of it. Names are
 * kinds and outcomes only: never a reference, never a plate.
 */

/** Everything that is sent to the service for its own sake: the reports of tows, and violations. */
export const SENT_KINDS = [...REPORT_KINDS, 'violation'] as const;
export type SentKind = (typeof SENT_KINDS)[number];

/** What an attempt to send came to: `failed` comes up again by itself, whatever it was that went wrong. */
export const ATTEMPT_OUTCOMES = ['accepted', 'refused', 'failed', 'unknown'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** What is timed: webhook received → processed; fact recorded → report accepted; one HTTP attempt. */
export const LATENCIES = ['delivery', 'report', 'attempt'] as const;
export type Latency = (typeof LATENCIES)[number];

/** The kinds of work that can pile up. */
export const BACKLOGS = ['deliveries', 'reports', 'violations', 'bulk'] as const;
export type Backlog = (typeof BACKLOGS)[number];

/**
 * What is added up. Deliveries are accepted once, copies left out; processed once, when they are settled or parked for
 * the first time; reports are delivered once, by the answer that accepted them.
 */
export const COUNTS = [
  ...DELIVERY_KINDS.map((kind) => `accepted.${kind}` as const),
  ...DELIVERY_KINDS.map((kind) => `processed.${kind}` as const),
  ...SENT_KINDS.map((kind) => `delivered.${kind}` as const),
  ...ATTEMPT_OUTCOMES.map((outcome) => `attempts.${outcome}` as const),
];
export type Count = (typeof COUNTS)[number];

/** What is looked at now and then, the highest of a minute counting; `oldest` in ms. */
export const LEVELS = [
  ...BACKLOGS.map((backlog) => `due.${backlog}` as const),
  ...BACKLOGS.map((backlog) => `oldest.${backlog}` as const),
  'tasks' as const,
  'held' as const,
];
export type Level = (typeof LEVELS)[number];

/** The upper ends of the steps of every histogram, ms; what takes longer than the last is in one step of its own. */
export const LATENCY_STEPS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000, 1_800_000,
  3_600_000, 14_400_000,
];

/** The step of a histogram that a time belongs to, from 0. A time that is negative, as clocks disagree, took no time. */
export function latencyStep(ms: number): number {
  const step = LATENCY_STEPS_MS.findIndex((end) => ms <= end);
  return step === -1 ? LATENCY_STEPS_MS.length : step;
}

/**
 * The time below which a share of all times lies, ms, from how many lie in each step: within its step a time may lie
 * anywhere. Of what takes longer than the last step only that is known. Null when there are none.
 */
export function quantileMs(counts: readonly number[], share: number): number | null {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  let left = share * total;
  for (const [step, count] of counts.entries()) {
    const startMs = LATENCY_STEPS_MS[step - 1] ?? 0;
    const endMs = LATENCY_STEPS_MS[step] ?? startMs;
    if (count > 0 && left <= count) return startMs + (endMs - startMs) * (left / count);
    left -= count;
  }
  return LATENCY_STEPS_MS.at(-1) ?? null;
}

/** What an attempt came to, by what comes next. */
export function attemptOutcome(next: Verdict['next']): AttemptOutcome {
  switch (next) {
    case 'accepted':
    case 'refused':
    case 'unknown':
      return next;
    case 'hold':
    case 'retry':
      return 'failed';
  }
}
