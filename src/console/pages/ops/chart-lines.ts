import type { SeriesName } from '../../../contracts/ops/metrics';
import { DELIVERY_KINDS, ENTRY_KINDS } from '../../../domain/vocabulary';
import type { MetricsStore, Points, MetricSeries } from '../../../workflow/ops/metrics-port';
import type { Messages } from '../../messages';
import type { Viewer } from '../../viewer';

/** The lines of each chart, and the metrics they add up. */

export const HOURS = ['1', '6', '24', '48'] as const;
export type Hours = (typeof HOURS)[number];

type LineName = keyof Messages['opsCharts']['lines'];
type ChartName = keyof Messages['opsCharts']['charts'];

interface ChartLine {
  readonly name: LineName;
  /** Added up. */
  readonly of: readonly SeriesName[];
  /** The custom property of the colour. */
  readonly tone: 'busy' | 'good' | 'wait' | 'bad';
  readonly isDashed?: boolean;
}

export interface Chart {
  readonly name: ChartName;
  readonly unit: 'count' | 'ms';
  readonly isLogarithmic?: boolean;
  readonly lines: readonly ChartLine[];
}

export const CHARTS: readonly Chart[] = [
  {
    name: 'throughput',
    unit: 'count',
    lines: [
      { name: 'accepted', of: DELIVERY_KINDS.map((kind) => `accepted.${kind}` as const), tone: 'busy' },
      {
        name: 'processed',
        of: DELIVERY_KINDS.map((kind) => `processed.${kind}` as const),
        tone: 'wait',
        isDashed: true,
      },
      { name: 'delivered', of: ENTRY_KINDS.map((kind) => `delivered.${kind}` as const), tone: 'good' },
      { name: 'failed', of: ['attempts.failed', 'attempts.refused', 'attempts.unknown'], tone: 'bad' },
    ],
  },
  {
    name: 'latency',
    unit: 'ms',
    isLogarithmic: true,
    lines: [
      { name: 'delivery.p50', of: ['delivery.p50'], tone: 'busy', isDashed: true },
      { name: 'delivery.p95', of: ['delivery.p95'], tone: 'busy' },
      { name: 'report.p50', of: ['report.p50'], tone: 'good', isDashed: true },
      { name: 'report.p95', of: ['report.p95'], tone: 'good' },
      { name: 'attempt.p50', of: ['attempt.p50'], tone: 'wait', isDashed: true },
      { name: 'attempt.p95', of: ['attempt.p95'], tone: 'wait' },
    ],
  },
  {
    name: 'backlog',
    unit: 'count',
    lines: [
      { name: 'due.deliveries', of: ['due.deliveries'], tone: 'busy' },
      { name: 'due.reports', of: ['due.reports'], tone: 'good' },
      { name: 'due.violations', of: ['due.violations'], tone: 'wait' },
      { name: 'tasks', of: ['tasks'], tone: 'bad', isDashed: true },
    ],
  },
  {
    name: 'oldest',
    unit: 'ms',
    lines: [
      { name: 'oldest.deliveries', of: ['oldest.deliveries'], tone: 'busy' },
      { name: 'oldest.reports', of: ['oldest.reports'], tone: 'good' },
      { name: 'oldest.violations', of: ['oldest.violations'], tone: 'wait' },
    ],
  },
];

const MINUTE_MS = 60_000;
/** At most 100 points per chart and table. */
const STEP_MINUTES: Readonly<Record<Hours, number>> = { '1': 1, '6': 5, '24': 15, '48': 30 };

/** Metrics of the last hours, without the current minute, which is incomplete. */
export function readSeries(figures: MetricsStore, hours: Hours, nowMs: number): Promise<MetricSeries> {
  const toMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  return figures.series({ fromMs: toMs - Number(hours) * 3_600_000, toMs, stepMs: STEP_MINUTES[hours] * MINUTE_MS });
}

/** The points of a line; null where no metric is known. */
export function pointsOf({ lines }: MetricSeries, { of }: ChartLine): Points {
  const parts = of.map((name) => lines[name]);
  return (parts[0] ?? []).map((_, at) => {
    const known = parts.flatMap((points) => points[at] ?? []);
    return known.length === 0 ? null : known.reduce((sum, value) => sum + value, 0);
  });
}

/** Formats a value: `3.2`, `140 ms`, `1.4 s`, `5 min 10 s`. */
export function valueText({ formats, messages }: Viewer, unit: Chart['unit'], value: number): string {
  if (unit === 'count') return formats.number(value);
  if (value < 1000) return `${formats.number(Math.round(value))} ${messages.opsCharts.ms}`;
  if (value < 60_000) return `${formats.number(value / 1000)} ${messages.units.seconds}`;
  return formats.duration(value);
}

/** The last known point of a line and its index. */
export function latestOf(points: Points): { readonly at: number; readonly value: number } | null {
  const at = points.findLastIndex((value) => value !== null);
  const value = points[at] ?? null;
  return value === null ? null : { at, value };
}
