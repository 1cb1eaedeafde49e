// @ts-check
/**
 * Counts the times of a page on, in the two largest units of `data-units` (`d|h|min|s`): `data-elapsed` up, and
 * `data-countdown` down, within `data-sentence` (`in {time}`). Both are in milliseconds, as of when the page was rendered.
 * In the last second and after it, a countdown shows `data-over`. Uses the time since the page was loaded, because the
 * clock of the device may be wrong.
 */

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

/** The value of an element, and when it was first seen. @type {WeakMap<Element, { value: string, seenMs: number }>} */
const known = new WeakMap();

setInterval(countOn, 1000);
countOn();

function countOn() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll('[data-countdown], [data-elapsed]')) {
    if (element instanceof HTMLElement) show(element);
  }
}

/** @param {HTMLElement} element */
function show(element) {
  const { countdown, elapsed, units = '', over = '', sentence = '{time}' } = element.dataset;
  const value = countdown ?? elapsed ?? '0';
  let seen = known.get(element);
  // A refresh brings a new value.
  if (seen?.value !== value) {
    seen = { value, seenMs: performance.now() };
    known.set(element, seen);
  }
  const passedMs = performance.now() - seen.seenMs;
  const words = units.split('|');
  const leftMs = Number(value) - passedMs;
  const text =
    countdown === undefined
      ? durationText(Number(value) + passedMs, words) || `0 ${words[3] ?? ''}`
      : leftMs < 1000
        ? over
        : sentence.replace('{time}', durationText(leftMs, words));
  if (element.textContent !== text) element.textContent = text;
}
