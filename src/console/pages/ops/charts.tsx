import type { MetricSeries, MetricsStore, Points } from '../../../workflow/ops/metrics-port';
import { Chip } from '../../parts/list';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import type { SeriesName } from '../../../contracts/ops/metrics';
import { DELIVERY_KINDS, ENTRY_KINDS } from '../../../domain/vocabulary';
import type { Messages } from '../../messages';

/** Throughput, latency and backlog. `charts.js` draws the charts from the tables. */
export function Charts({ viewer, series, hours }: { viewer: Viewer; series: MetricSeries; hours: Hours }) {
  const messages = viewer.messages.opsCharts;
  const isEmpty = CHARTS.every(({ lines }) =>
    lines.every((line) => pointsOf(series, line).every((value) => value === null)),
  );
  return (
    <section
      id="charts"
      aria-labelledby="charts-title"
      hx-get={`/ops/charts?hours=${hours}`}
      hx-trigger="every 60s"
      hx-swap="morph:outerHTML"
    >
      <div class="head">
        <h2 id="charts-title">{messages.title}</h2>
        <ul class="chips" aria-label={messages.range}>
          {HOURS.map((each) => (
            <Chip to={`/ops?hours=${each}#charts`} isOn={each === hours}>
              {messages.hours[each]}
            </Chip>
          ))}
        </ul>
      </div>
      {isEmpty ? (
        <div class="card">
          <Empty title={messages.none} />
        </div>
      ) : (
        <div class="chart-grid">
          {CHARTS.map((chart) => (
            <Figure viewer={viewer} chart={chart} series={series} />
          ))}
        </div>
      )}
    </section>
  );
}

function Figure({ viewer, chart, series }: { viewer: Viewer; chart: Chart; series: MetricSeries }) {
  const messages = viewer.messages.opsCharts;
  const { name, unit, lines } = chart;
  const { formats } = viewer;
  return (
    <figure
      class="card chart"
      id={`chart-${name}`}
      data-chart={unit}
      data-units={[messages.ms, ...UNITS_MS.map((ms) => formats.duration(ms).split(' ')[1] ?? '')].join('|')}
      {...(chart.isLogarithmic === true ? { 'data-logarithmic': 'true' } : {})}
    >
      <figcaption>
        <h3>{messages.charts[name]}</h3>
        <p class="muted">
          {messages.about[name]}. {messages.step({ minutes: formats.duration(series.stepMs) })}
        </p>
      </figcaption>
      <div class="plot" id={`plot-${name}`} data-plot dir="ltr" aria-hidden="true" />
      <p class="chart-at muted" data-hovered={messages.latest} dir="auto">
        {messages.latest}
      </p>
      <ul class="legend">
        {lines.map((line) => (
          <li>
            <span class={`swatch ${line.tone}${line.isDashed === true ? ' dashed' : ''}`} aria-hidden="true" />
            <span>{messages.lines[line.name]}</span>{' '}
            <Latest viewer={viewer} series={series} chart={chart} line={line} />
          </li>
        ))}
      </ul>
      <ChartTable viewer={viewer} chart={chart} series={series} />
    </figure>
  );
}

const UNITS_MS = [1000, 60_000, 3_600_000, 86_400_000];

function Latest(props: { viewer: Viewer; series: MetricSeries; chart: Chart; line: Chart['lines'][number] }) {
  const { viewer, series, chart, line } = props;
  const messages = viewer.messages.opsCharts;
  const latest = latestOf(pointsOf(series, line));
  if (latest === null) {
    return (
      <strong data-value-of={line.name} title={viewer.messages.tow.noPlace}>
        {messages.unknown}
      </strong>
    );
  }
  const isLast = latest.at === series.atMs.length - 1;
  const at = viewer.formats.clockTime(new Date(series.atMs[latest.at] ?? 0).toISOString()).slice(0, 5);
  return (
    <strong data-value-of={line.name}>
      <bdi>{`${valueText(viewer, chart.unit, latest.value)}${isLast ? '' : ` (${at})`}`}</bdi>
    </strong>
  );
}

/** The numbers of a chart, newest first, for screen readers. `charts.js` draws the chart from them. */
function ChartTable({ viewer, chart, series }: { viewer: Viewer; chart: Chart; series: MetricSeries }) {
  const messages = viewer.messages.opsCharts;
  const { name, unit } = chart;
  const lines = chart.lines.map((line) => ({ ...line, points: pointsOf(series, line) }));
  return (
    <details id={`numbers-${name}`}>
      <summary>{messages.table}</summary>
      <div class="scroll numbers" tabindex={0} role="region" aria-label={`${messages.charts[name]}: ${messages.table}`}>
        <table>
          <caption class="visually-hidden">{messages.charts[name]}</caption>
          <thead>
            <tr>
              <th scope="col">{messages.time}</th>
              {lines.map((line) => (
                <th
                  scope="col"
                  class="number"
                  data-line={line.name}
                  data-tone={line.tone}
                  {...(line.isDashed === true ? { 'data-dashed': 'true' } : {})}
                >
                  {messages.lines[line.name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {series.atMs
              .map((atMs, at) => (
                <tr data-at={String(atMs)}>
                  <th scope="row">{viewer.formats.timestamp(new Date(atMs).toISOString())}</th>
                  {lines.map(({ points }) => (
                    <Cell viewer={viewer} unit={unit} value={points[at] ?? null} />
                  ))}
                </tr>
              ))
              .toReversed()}
          </tbody>
        </table>
      </div>
    </details>
  );
}

function Cell({ viewer, unit, value }: { viewer: Viewer; unit: Chart['unit']; value: number | null }) {
  if (value === null) return <td class="number">{viewer.messages.opsCharts.unknown}</td>;
  return (
    <td class="number" data-value={String(Math.round(value * 100) / 100)}>
      {valueText(viewer, unit, value)}
    </td>
  );
}

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

const CHARTS: readonly Chart[] = [
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
function pointsOf({ lines }: MetricSeries, { of }: ChartLine): Points {
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
function latestOf(points: Points): { readonly at: number; readonly value: number } | null {
  const at = points.findLastIndex((value) => value !== null);
  const value = points[at] ?? null;
  return value === null ? null : { at, value };
}
