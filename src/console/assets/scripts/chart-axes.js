// @ts-check
/** The axes of a chart: Riyadh time along the bottom, numbers or durations at the side where a line begins to be read. */

const LOCALES = { en: 'en-GB', ar: 'ar-SA-u-ca-gregory-nu-latn' };
/** Of counts: never half a record. */
const WHOLE = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000];
/** Of durations: what a clock shows, also where each line is a multiple of the one below. */
const MAGNITUDES_MS = [1, 10, 100, 1000, 10_000, 60_000, 600_000, 3_600_000, 36_000_000, 86_400_000, 864_000_000];
/** Steps between lines. */
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
    hour12: false,
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
      // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- The library has its enums for types alone.
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
 * In the largest unit that leaves at least one of it.
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
