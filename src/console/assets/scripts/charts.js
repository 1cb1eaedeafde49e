// @ts-check
/**
 * Draws every `[data-chart]` from the table inside it, in the colours of the theme, and shows the numbers at the pointer.
 * In Arabic time runs from right to left.
 */
import { axesOf } from './chart-axes.js';

const HEIGHT = 220;
/** @type {Map<string, { plot: uPlot, table: ChartTable }>} */
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
 * @param {ChartTable} table
 * @returns {uPlot.AlignedData}
 */
function dataOf({ seconds, lines }) {
  return [seconds, ...lines.map(({ points }) => points)];
}

/**
 * The time range of the table, including times without values.
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
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The library declares its enums in types only.
  return { distr: 3, range: (_plot, min, max) => (min > 0 ? uPlot.rangeLog(min, max, 10, true) : [1, 1000]) };
}

/**
 * @param {ChartLine} line
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
 * Shows the numbers at one time, or the latest numbers when nothing is pointed at.
 *
 * @param {HTMLElement} figure
 * @param {ChartTable | undefined} table
 * @param {number | null | undefined} at
 */
function point(figure, table, at) {
  const label = figure.querySelector('[data-hovered]');
  if (!(label instanceof HTMLElement) || !table) return;
  const isPointing = typeof at === 'number';
  label.textContent = isPointing ? (table.times[at] ?? '') : (label.dataset['hovered'] ?? '');
  for (const { name, texts } of table.lines) {
    const value = figure.querySelector(`[data-value-of="${name}"]`);
    if (!(value instanceof HTMLElement)) continue;
    value.dataset['latest'] ??= value.textContent ?? '';
    value.textContent = isPointing ? (texts[at] ?? '') : value.dataset['latest'];
  }
}

/**
 * @typedef {object} ChartLine
 * @property {string} name
 * @property {string} tone the custom property of its colour
 * @property {boolean} isDashed
 * @property {(number | null)[]} points
 * @property {string[]} texts the formatted points
 */

/**
 * @typedef {object} ChartTable
 * @property {number[]} seconds the start of each point, oldest first
 * @property {string[]} times the formatted starts
 * @property {ChartLine[]} lines
 */

/**
 * @param {HTMLElement} figure
 * @returns {ChartTable}
 */
function readTable(figure) {
  // The table lists the newest row first.
  const rows = [...figure.querySelectorAll('tr[data-at]')].toReversed();
  const heads = [...figure.querySelectorAll('th[data-line]')];
  const cellsOf = (/** @type {number} */ column) => rows.map((row) => row.querySelectorAll('td')[column]);
  return {
    seconds: rows.map((row) => Number(row.getAttribute('data-at')) / 1000),
    times: rows.map((row) => row.querySelector('th')?.textContent ?? ''),
    lines: heads.map((head, column) => ({
      name: head.getAttribute('data-line') ?? '',
      tone: head.getAttribute('data-tone') ?? 'text',
      isDashed: head.hasAttribute('data-dashed'),
      points: cellsOf(column).map((cell) => numberOf(cell?.dataset['value'])),
      texts: cellsOf(column).map((cell) => cell?.textContent ?? ''),
    })),
  };
}

/** @param {string | undefined} text */
function numberOf(text) {
  return text === undefined ? null : Number(text);
}
