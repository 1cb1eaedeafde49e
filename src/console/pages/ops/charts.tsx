import type { Series } from '../../../workflow/figures-port';
import { Empty } from '../../parts/text';
import type { Viewer } from '../../viewer';
import { ChartTable } from './chart-table';
import { CHARTS, HOURS, pointsOf, type Chart, type Hours } from './chart-lines';
import { latestOf, valueText } from './chart-values';

/** How busy towhook was, how fast, and how much waited. `charts.js` draws what the tables say. */
export function Charts({ viewer, series, hours }: { viewer: Viewer; series: Series; hours: Hours }) {
  const words = viewer.words.opsCharts;
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
        <h2 id="charts-title">{words.title}</h2>
        <ul class="chips" aria-label={words.range}>
          {HOURS.map((each) => (
            <li>
              <a class="chip" href={`/ops?hours=${each}#charts`} aria-current={each === hours ? 'true' : undefined}>
                {words.hours[each]}
              </a>
            </li>
          ))}
        </ul>
      </div>
      {isEmpty ? (
        <div class="card">
          <Empty title={words.none} />
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

function Figure({ viewer, chart, series }: { viewer: Viewer; chart: Chart; series: Series }) {
  const words = viewer.words.opsCharts;
  const { name, unit, lines } = chart;
  const { formats } = viewer;
  return (
    <figure
      class="card chart"
      id={`chart-${name}`}
      data-chart={unit}
      data-units={[words.ms, ...UNITS_MS.map((ms) => formats.duration(ms).split(' ')[1] ?? '')].join('|')}
      {...(chart.isLogarithmic === true ? { 'data-logarithmic': 'true' } : {})}
    >
      <figcaption>
        <h3>{words.charts[name]}</h3>
        <p class="muted">
          {words.about[name]}. {words.step(formats.duration(series.stepMs))}
        </p>
      </figcaption>
      <div class="plot" id={`plot-${name}`} data-plot dir="ltr" aria-hidden="true" />
      <p class="chart-at muted" data-hovered={words.latest} dir="auto">
        {words.latest}
      </p>
      <ul class="legend">
        {lines.map((line) => (
          <li>
            <span class={`swatch ${line.tone}${line.isDashed === true ? ' dashed' : ''}`} aria-hidden="true" />
            <span>{words.lines[line.name]}</span> <Latest viewer={viewer} series={series} chart={chart} line={line} />
          </li>
        ))}
      </ul>
      <ChartTable viewer={viewer} chart={chart} series={series} />
    </figure>
  );
}

const UNITS_MS = [1000, 60_000, 3_600_000, 86_400_000];

function Latest(props: { viewer: Viewer; series: Series; chart: Chart; line: Chart['lines'][number] }) {
  const { viewer, series, chart, line } = props;
  const words = viewer.words.opsCharts;
  const latest = latestOf(pointsOf(series, line));
  if (latest === null) {
    return (
      <strong data-value-of={line.name} title={words.unknownWords}>
        {words.unknown}
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
