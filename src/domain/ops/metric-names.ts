import { DELIVERY_KINDS, ENTRY_KINDS, QUEUE_NAMES } from '../vocabulary';
import type { Verdict } from '../service/policy';
import { WEBHOOK_OUTCOMES } from '../webhook/webhook-answers';

/**
 * Names of the counters, gauges and histograms that all processes add up minute by minute for the charts. Names hold
 * kinds and outcomes only, never a reference or plate.
 */

/** The outcome of an attempt; `failed` will be retried. */
const ATTEMPT_OUTCOMES = ['accepted', 'refused', 'failed', 'unknown'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

/** Latencies: webhook received → processed; fact recorded → report accepted; one HTTP attempt. */
export const LATENCIES = ['delivery', 'report', 'attempt'] as const;
export type Latency = (typeof LATENCIES)[number];

/**
 * Counters. A delivery counts as accepted once, without its copies; as processed when it is first settled or parked.
 * A report counts as delivered once, by the answer that accepted it. `answers` counts every call that a receiver answered;
 * one that is refused on another path than those of the webhooks counts as `address`.
 */
export const COUNTERS = [
  ...DELIVERY_KINDS.map((kind) => `accepted.${kind}` as const),
  ...DELIVERY_KINDS.map((kind) => `processed.${kind}` as const),
  ...ENTRY_KINDS.map((kind) => `delivered.${kind}` as const),
  ...ATTEMPT_OUTCOMES.map((outcome) => `attempts.${outcome}` as const),
  ...WEBHOOK_OUTCOMES.map((outcome) => `answers.${outcome}` as const),
];
export type CounterName = (typeof COUNTERS)[number];

/** Gauges, sampled; the maximum of a minute counts. `oldest` is in ms. */
export const GAUGES = [
  ...QUEUE_NAMES.map((queue) => `due.${queue}` as const),
  ...QUEUE_NAMES.map((queue) => `oldest.${queue}` as const),
  'tasks' as const,
  'held' as const,
];
export type GaugeName = (typeof GAUGES)[number];

/** The upper bounds of the histogram buckets, ms. Longer times fall into one more bucket. */
export const LATENCY_STEPS_MS: readonly number[] = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 60_000, 120_000, 300_000, 600_000, 1_800_000,
  3_600_000, 14_400_000,
];

/** Returns the histogram bucket of a time, from 0. Negative times, from clocks that disagree, count as 0. */
export function latencyStep(ms: number): number {
  const step = LATENCY_STEPS_MS.findIndex((end) => ms <= end);
  return step === -1 ? LATENCY_STEPS_MS.length : step;
}

/**
 * Returns the quantile of a histogram, ms, interpolated linearly within a bucket. Times beyond the last bound count
 * as that bound. Null for an empty histogram.
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

/** The outcome that metrics count for a verdict. An attempt that will be repeated has failed. */
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
