import { median } from './statistics';

/** Who is measured; README.md describes each. */
export const CONTENDERS = ['towhook', 'express', 'xadd', 'loop'] as const;
export type Contender = (typeof CONTENDERS)[number];

/** One thing that a workload measures. */
export interface Measurement {
  readonly label: string;
  readonly unit: string;
  /** Decimal places in the table. */
  readonly digits: number;
  readonly target?: MeasurementTarget;
}

/** What the figure of towhook should reach. `express` is the median of contender (a); NaN when it was not measured. */
export interface MeasurementTarget {
  readonly text: string;
  readonly holds: (towhook: number, express: number) => boolean;
}

/** The values of one contender by figure name, one run. */
export type Sample = Readonly<Record<string, number>>;

/** A row of the table: the values of all rounds, per contender. */
export interface MeasurementRow {
  readonly workload: string;
  readonly figure: Measurement;
  readonly values: Readonly<Partial<Record<Contender, readonly number[]>>>;
}

/** The middle of a contender's rounds; NaN when it has none. */
export function medianOf(row: MeasurementRow, contender: Contender): number {
  return median(row.values[contender] ?? []);
}

/** True when the row has a target and towhook misses it. */
export function missesTarget(row: MeasurementRow): boolean {
  const { target } = row.figure;
  return target !== undefined && !target.holds(medianOf(row, 'towhook'), medianOf(row, 'express'));
}

/** At least so many times the figure of contender (a). */
export function atLeastTimes(factor: number): MeasurementTarget {
  return { text: `≥ ${factor} × (a)`, holds: (towhook, express) => towhook >= factor * express };
}

/** At most so many times the figure of contender (a). */
export function atMostTimes(factor: number): MeasurementTarget {
  const text = factor === 1 ? '≤ (a)' : `≤ ${factor} × (a)`;
  return { text, holds: (towhook, express) => towhook <= factor * express };
}

/** At most this value. */
export function atMost(limit: number): MeasurementTarget {
  return { text: `≤ ${limit}`, holds: (towhook) => towhook <= limit };
}
