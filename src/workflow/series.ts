import { seriesLines, type Line } from '../contracts/figures';
import { COUNTS, LATENCIES, LATENCY_STEPS_MS, LEVELS, quantileMs, type Latency } from '../domain/figures';
import type { Range, Series } from './figures-port';

/** From buckets of one minute to lines of a chart. */

/** The figures of one minute by name. */
export type Bucket = ReadonlyMap<string, number>;
/** The minutes of one step in which a process lived. */
type Lived = readonly Bucket[];
type PointOf = (lived: Lived) => number | null;

export const MINUTE_MS = 60_000;

const PERCENT = 100;
const LINES: readonly (readonly [Line, PointOf])[] = [
  ...COUNTS.map((name) => line(name, (lived) => perMinute(lived, name))),
  ...LATENCIES.map((latency) => line(`${latency}.p50`, (lived) => percentileMs(lived, latency, 50))),
  ...LATENCIES.map((latency) => line(`${latency}.p95`, (lived) => percentileMs(lived, latency, 95))),
  ...LEVELS.map((name) => line(name, (lived) => highest(lived, name))),
];

/** When the first step of a range begins, and how many there are. */
export function stepsOf({ fromMs, toMs, stepMs }: Range): { readonly firstMs: number; readonly count: number } {
  const firstMs = Math.floor(fromMs / stepMs) * stepMs;
  return { firstMs, count: Math.ceil((toMs - firstMs) / stepMs) };
}

/** The lines over a range, of the buckets of all minutes of its steps, oldest first; null = no process lived. */
export function seriesOf(range: Range, buckets: readonly (Bucket | null)[], completeUntilMs: number): Series {
  const { stepMs } = range;
  const { firstMs, count } = stepsOf(range);
  const minutes = stepMs / MINUTE_MS;
  const steps = Array.from({ length: count }, (_, step) =>
    buckets.slice(step * minutes, (step + 1) * minutes).filter((bucket) => bucket !== null),
  );
  return {
    stepMs,
    atMs: steps.map((_, step) => firstMs + step * stepMs),
    lines: seriesLines.parse(Object.fromEntries(LINES.map(([name, pointOf]) => [name, steps.map(pointOf)]))),
    completeUntilMs,
  };
}

function line(name: Line, pointOf: PointOf): readonly [Line, PointOf] {
  return [name, pointOf];
}

/** Of the minutes that somebody lived to see: a step half of which nobody saw is not half as busy. */
function perMinute(lived: Lived, name: string): number | null {
  return lived.length === 0 ? null : sumOf(lived, name) / lived.length;
}

function percentileMs(lived: Lived, latency: Latency, percent: number): number | null {
  const counts = [...LATENCY_STEPS_MS, Infinity].map((_, step) => sumOf(lived, `${latency}.${step}`));
  return quantileMs(counts, percent / PERCENT);
}

function highest(lived: Lived, name: string): number | null {
  const seen = lived.flatMap((bucket) => bucket.get(name) ?? []);
  return seen.length === 0 ? null : Math.max(...seen);
}

function sumOf(lived: Lived, name: string): number {
  return lived.reduce((sum, bucket) => sum + (bucket.get(name) ?? 0), 0);
}
