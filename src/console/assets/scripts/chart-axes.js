// @ts-check
/** The axes of a chart: Riyadh time at the bottom, counts or durations at the side where reading starts. */

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
export function axesOf(figure, isReversed) {
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
  const style = getComputedStyle(document.documentElement);
  const grid = { stroke: () => style.getPropertyValue('--line').trim(), width: 1 };
  return {
    stroke: () => style.getPropertyValue('--muted').trim(),
    font: `12px ${getComputedStyle(document.body).fontFamily}`,
    grid,
    ticks: { ...grid, size: 4 },
  };
}
