// @ts-check
/**
 * Draws every `[data-chart]` from the table inside it, in the colours of the theme, and shows the numbers at the pointer.
 * In Arabic time runs from right to left. The axes: Riyadh time at the bottom, counts or durations where reading starts.
 */

const LOCALES = { en: 'en-GB', ar: 'ar-SA-u-ca-gregory-nu-latn' };
/** Steps between the lines of a chart of counts: whole numbers only. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
/** Lines of a logarithmic chart of durations. */
const MAGNITUDES_MS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000];
/** Steps between the lines of a linear chart of durations. */
const DURATIONS_MS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000, 900_000,
  1_800_000, 3_600_000, 7_200_000, 14_400_000, 28_800_000, 86_400_000,
];
const UNITS_MS = [86_400_000, 3_600_000, 60_000, 1000, 1];

/**
 * @param {HTMLElement} figure
 * @param {boolean} isReversed
 * @returns {uPlot.Axis[]}
 */
function axesOf(figure, isReversed) {
  const locale = document.documentElement.lang === 'ar' ? LOCALES.ar : LOCALES.en;
  const clock = new Intl.DateTimeFormat(locale, {
    timeZone: 'Asia/Riyadh',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const plain = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 });
  const units = (figure.dataset['units'] ?? '').split('|').toReversed();
  const isDuration = figure.dataset['chart'] === 'ms';
  const text = (/** @type {number | null} */ value) => {
    if (value === null) return '';
    return isDuration ? durationText(value, units, plain) : plain.format(value);
  };
  return [
    {
      ...look(),
      values: (_plot, splits) => splits.map((seconds) => clock.format(seconds * 1000)),
      space: 64,
      size: 32,
    },
    {
      ...look(),
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The library declares its enums in types only.
      side: isReversed ? 1 : 3,
      size: 62,
      ...(figure.dataset['logarithmic'] === undefined
        ? { incrs: isDuration ? DURATIONS_MS : WHOLE }
        : { splits: isDuration ? magnitudes : decades, filter: (_plot, splits) => splits }),
      values: (_plot, splits) => splits.map(text),
    },
  ];
}

/**
 * @param {uPlot} _plot
 * @param {number} _axis
 * @param {number} min
 * @param {number} max
 */
function magnitudes(_plot, _axis, min, max) {
  return MAGNITUDES_MS.filter((ms) => ms >= min && ms <= max);
}

/**
 * One line for each power of ten.
 *
 * @param {uPlot} _plot
 * @param {number} _axis
 * @param {number} min
 * @param {number} max
 */
function decades(_plot, _axis, min, max) {
  const first = Math.floor(Math.log10(min));
  const last = Math.ceil(Math.log10(max));
  return Array.from({ length: last - first + 1 }, (_, at) => 10 ** (first + at));
}

/**
 * The duration in the largest unit of which it has at least one.
 *
 * @param {number} ms
 * @param {string[]} units from days to ms
 * @param {Intl.NumberFormat} plain
 */
function durationText(ms, units, plain) {
  const at = UNITS_MS.findIndex((size) => ms >= size);
  if (at === -1) return plain.format(ms);
  return `${plain.format(ms / (UNITS_MS[at] ?? 1))} ${units[at] ?? ''}`;
}

/** @returns {uPlot.Axis} */
function look() {
  const grid = { stroke: () => colour('line'), width: 1 };
  return {
    stroke: () => colour('muted'),
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    grid,
    ticks: { ...grid, size: 4 },
  };
}

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

/**
 * A colour of the theme that is shown, which a canvas cannot read from `light-dark()`.
 *
 * @param {string} name
 */
function colour(name) {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = `var(--${name})`;
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
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
