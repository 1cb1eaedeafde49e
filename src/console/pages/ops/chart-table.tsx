import type { Series } from '../../../workflow/figures-port';
import type { Viewer } from '../../viewer';
import { pointsOf, type Chart } from './chart-lines';
import { valueText } from './chart-values';

/** The numbers of a chart, newest first: for whoever does not see it, and what `charts.js` draws it from. */
export function ChartTable({ viewer, chart, series }: { viewer: Viewer; chart: Chart; series: Series }) {
  const words = viewer.words.opsCharts;
  const { name, unit } = chart;
  const lines = chart.lines.map((line) => ({ ...line, points: pointsOf(series, line) }));
  return (
    <details id={`numbers-${name}`}>
      <summary>{words.table}</summary>
      <div class="scroll numbers" tabindex={0} role="region" aria-label={`${words.charts[name]}: ${words.table}`}>
        <table>
          <caption class="visually-hidden">{words.charts[name]}</caption>
          <thead>
            <tr>
              <th scope="col">{words.time}</th>
              {lines.map((line) => (
                <th
                  scope="col"
                  class="number"
                  data-line={line.name}
                  data-tone={line.tone}
                  {...(line.isDashed === true ? { 'data-dashed': 'true' } : {})}
                >
                  {words.lines[line.name]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {series.atMs
              .map((atMs, at) => (
                <tr data-at={String(atMs)}>
                  <th scope="row">{viewer.formats.moment(new Date(atMs).toISOString())}</th>
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
  if (value === null) return <td class="number">{viewer.words.opsCharts.unknown}</td>;
  return (
    <td class="number" data-value={String(Math.round(value * 100) / 100)}>
      {valueText(viewer, unit, value)}
    </td>
  );
}
