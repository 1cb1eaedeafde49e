import { seriesLines, type SeriesName } from '../../contracts/ops/metrics';
import { COUNTERS, LATENCIES, LATENCY_STEPS_MS, GAUGES, quantileMs, type Latency } from '../../domain/ops/metric-names';
import { MINUTE_MS } from '../../domain/timestamp';
import type { MetricSeries, MetricsStore, TimeRange } from './metrics-port';

/** Turns minute buckets of metrics into chart series. */

/** The metrics of one minute by name. */
export type Bucket = ReadonlyMap<string, number>;
/** The minutes of one step in which a process was running. */
type Buckets = readonly Bucket[];
type PointOf = (buckets: Buckets) => number | null;

const PERCENT = 100;
const LINES: readonly (readonly [SeriesName, PointOf])[] = [
  ...COUNTERS.map((name) => line(name, (buckets) => perMinute(buckets, name))),
  ...LATENCIES.map((latency) => line(`${latency}.p50`, (buckets) => percentileMs(buckets, latency, 50))),
  ...LATENCIES.map((latency) => line(`${latency}.p95`, (buckets) => percentileMs(buckets, latency, 95))),
  ...GAUGES.map((name) => line(name, (buckets) => highest(buckets, name))),
];

/** The start of the first step of a range, and the number of steps. */
export function stepsOf({ fromMs, toMs, stepMs }: TimeRange): { readonly firstMs: number; readonly count: number } {
  const firstMs = Math.floor(fromMs / stepMs) * stepMs;
  return { firstMs, count: Math.ceil((toMs - firstMs) / stepMs) };
}

/** The series over a range, from the buckets of all its minutes, oldest first; null = no process was running. */
export function seriesOf(range: TimeRange, buckets: readonly (Bucket | null)[], completeUntilMs: number): MetricSeries {
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

const RECENT_MINUTES = 5;

/** Reads the five minutes before the end of a minute. Resolves with a function that adds up series of these minutes. */
export async function sumsUntil(
  metrics: MetricsStore,
  toMs: number,
): Promise<(...names: readonly SeriesName[]) => number> {
  const { lines } = await metrics.series({ fromMs: toMs - RECENT_MINUTES * MINUTE_MS, toMs, stepMs: MINUTE_MS });
  return (...names) => names.flatMap((name) => lines[name]).reduce<number>((sum, point) => sum + (point ?? 0), 0);
}

function line(name: SeriesName, pointOf: PointOf): readonly [SeriesName, PointOf] {
  return [name, pointOf];
}

/** The average over minutes with a running process only: an unobserved minute must not count as idle. */
function perMinute(buckets: Buckets, name: string): number | null {
  return buckets.length === 0 ? null : sumOf(buckets, name) / buckets.length;
}

function percentileMs(buckets: Buckets, latency: Latency, percent: number): number | null {
  const counts = [...LATENCY_STEPS_MS, Infinity].map((_, step) => sumOf(buckets, `${latency}.${step}`));
  return quantileMs(counts, percent / PERCENT);
}

function highest(buckets: Buckets, name: string): number | null {
  const seen = buckets.flatMap((bucket) => bucket.get(name) ?? []);
  return seen.length === 0 ? null : Math.max(...seen);
}

function sumOf(buckets: Buckets, name: string): number {
  return buckets.reduce((sum, bucket) => sum + (bucket.get(name) ?? 0), 0);
}
