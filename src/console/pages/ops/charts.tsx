import type { MetricSeries } from '../../../workflow/ops/metrics-port';
import { Chip } from '../../parts/list';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { CHARTS, HOURS, pointsOf, type Chart, type Hours, latestOf, valueText } from './chart-lines';

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
