// @ts-check
/**
 * Counts down what stands in `data-countdown` (ms left when the page was made), in the two largest units of `data-units`
 * (`d|h|min|s`). By how long the page has stood, not by the clock of the device, which may be wrong.
 */

const SIZES_MS = [86_400_000, 3_600_000, 60_000, 1000];
/** @type {WeakMap<Element, { text: string, endsAt: number }>} */
const ends = new WeakMap();

setInterval(countDown, 1000);

function countDown() {
  if (document.hidden) return;
  for (const element of document.querySelectorAll('[data-countdown]')) {
    if (element instanceof HTMLElement) show(element);
  }
}

/** @param {HTMLElement} element */
function show(element) {
  const { countdown = '0', units = '', over = '' } = element.dataset;
  let known = ends.get(element);
  // A refreshed page says anew how much is left.
  if (known?.text !== countdown) {
    known = { text: countdown, endsAt: performance.now() + Number(countdown) };
    ends.set(element, known);
  }
  const left = known.endsAt - performance.now();
  const words = left < 1000 ? over : wordsOf(left, units.split('|'));
  if (element.textContent !== words) element.textContent = words;
}

/**
 * @param {number} left
 * @param {string[]} units
 */
function wordsOf(left, units) {
  const counts = SIZES_MS.map((size, index) => {
    const whole = Math.floor(left / size);
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
