// @ts-check
/**
 * Draws every `[data-chart]` from the table that stands in it, in the colours of the theme, and says the numbers of the
 * moment that is pointed at. Time runs the way the page is read.
 */
import { axesOf } from './chart-axes.js';
import { readTable } from './chart-table.js';

const HEIGHT = 220;
/** @type {Map<string, { plot: uPlot, table: import('./chart-table.js').ChartTable }>} */
const drawn = new Map();
const resizes = new ResizeObserver((entries) => {
  for (const { target, contentRect } of entries) {
    drawn.get(target.id)?.plot.setSize({ width: Math.floor(contentRect.width), height: HEIGHT });
  }
});

drawAll();
document.addEventListener('htmx:afterSwap', drawAll);
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redrawAll);
document.fonts.ready.then(redrawAll, () => {});

function redrawAll() {
  for (const { plot } of drawn.values()) plot.redraw(false, true);
}

function drawAll() {
  for (const figure of document.querySelectorAll('[data-chart]')) {
    const element = figure.querySelector('[data-plot]');
    if (figure instanceof HTMLElement && element instanceof HTMLElement) draw(figure, element);
  }
}

/**
 * @param {HTMLElement} figure
 * @param {HTMLElement} element
 */
function draw(figure, element) {
  const table = readTable(figure);
  const known = drawn.get(element.id);
  if (known && element.contains(known.plot.root)) {
    known.table = table;
    known.plot.setData(dataOf(table));
    return;
  }
  const isReversed = document.documentElement.dir === 'rtl';
  const plot = new uPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { y: false, drag: { x: false, y: false } },
      tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), 'Asia/Riyadh'),
      scales: { x: { dir: isReversed ? -1 : 1, range: () => timesOf(element) }, y: scaleOf(figure) },
      series: [{}, ...table.lines.map(seriesOf)],
      axes: axesOf(figure, isReversed),
      hooks: { setCursor: [(self) => point(figure, drawn.get(element.id)?.table, self.cursor.idx)] },
    },
    dataOf(table),
    element,
  );
  drawn.set(element.id, { plot, table });
  resizes.observe(element);
  plot.setSize({ width: element.clientWidth, height: HEIGHT });
}

/**
 * @param {import('./chart-table.js').ChartTable} table
 * @returns {uPlot.AlignedData}
 */
function dataOf({ seconds, lines }) {
  return [seconds, ...lines.map(({ points }) => points)];
}

/**
 * From the first moment of the table to the last, also where nothing is known of it.
 *
 * @param {HTMLElement} element
 * @returns {[number, number]}
 */
function timesOf(element) {
  const seconds = drawn.get(element.id)?.table.seconds ?? [];
  return [seconds[0] ?? 0, seconds.at(-1) ?? 1];
}

/**
 * @param {HTMLElement} figure
 * @returns {uPlot.Scale}
 */
function scaleOf(figure) {
  if (figure.dataset['logarithmic'] === undefined) {
    const least = figure.dataset['chart'] === 'ms' ? 1000 : 1;
    return { range: (_plot, _min, max) => [0, Math.max(least, (max ?? 0) * 1.1)] };
  }
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The library has its enums for types alone.
  return { distr: 3, range: (_plot, min, max) => (min > 0 ? uPlot.rangeLog(min, max, 10, true) : [1, 1000]) };
}

/**
 * @param {import('./chart-table.js').ChartLine} line
 * @returns {uPlot.Series}
 */
function seriesOf({ tone, isDashed }) {
  return { stroke: () => colour(tone), width: 2, ...(isDashed ? { dash: [6, 4] } : {}), points: { size: 4 } };
}

/** @param {string} name */
function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

/**
 * Says the numbers of a moment, or the latest ones again.
 *
 * @param {HTMLElement} figure
 * @param {import('./chart-table.js').ChartTable | undefined} table
 * @param {number | null | undefined} at
 */
function point(figure, table, at) {
  const moment = figure.querySelector('[data-hovered]');
  if (!(moment instanceof HTMLElement) || !table) return;
  const isPointing = typeof at === 'number';
  moment.textContent = isPointing ? (table.times[at] ?? '') : (moment.dataset['hovered'] ?? '');
  for (const { name, texts } of table.lines) {
    const value = figure.querySelector(`[data-value-of="${name}"]`);
    if (!(value instanceof HTMLElement)) continue;
    value.dataset['latest'] ??= value.textContent ?? '';
    value.textContent = isPointing ? (texts[at] ?? '') : value.dataset['latest'];
  }
}
