// @ts-check

const SIZES_MS = [86_400_000, 3_600_000, 60_000, 1000];

/**
 * The two largest units of a duration, in the format of the server; '' below a second.
 *
 * @param {number} durationMs
 * @param {string[]} units Days, hours, minutes and seconds.
 */
export function durationText(durationMs, units) {
  const counts = SIZES_MS.map((size, index) => {
    const whole = Math.floor(durationMs / size);
    const larger = SIZES_MS[index - 1];
    return larger === undefined ? whole : whole % (larger / size);
  });
  const first = counts.findIndex((count) => count > 0);
  return counts
    .map((count, index) => ({ count, index }))
    .filter(({ count, index }) => count > 0 && (index === first || index === first + 1))
    .map(({ count, index }) => `${count} ${units[index] ?? ''}`)
    .join(' ');
}
