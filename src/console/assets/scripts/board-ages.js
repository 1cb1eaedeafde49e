// @ts-check
/**
 * Ages of tows, in whole minutes, that grow while the page stands. By the clock of the server, of which the page says how
 * late it was when it was made (`data-now`): the clock of the device may be wrong.
 */

const EVERY_MS = 10_000;
const MINUTE_MS = 60_000;
const SIZES_MS = [86_400_000, 3_600_000, MINUTE_MS];
let said = '';
let aheadMs = 0;

export function growAges() {
  setInterval(write, EVERY_MS);
}

function write() {
  const board = document.querySelector('#board');
  if (!(board instanceof HTMLElement) || document.hidden) return;
  const { now = '', ageWords = '' } = board.dataset;
  if (now !== said) {
    said = now;
    aheadMs = Number(now) - Date.now();
  }
  const words = ageWords.split('|');
  for (const element of board.querySelectorAll('time[data-age]')) {
    const age = ageOf(Date.now() + aheadMs - Date.parse(element.getAttribute('datetime') ?? ''), words);
    if (element.textContent !== age) element.textContent = age;
  }
}

/**
 * The two largest units, as the server writes them.
 *
 * @param {number} ageMs
 * @param {string[]} words
 */
function ageOf(ageMs, words) {
  const counts = SIZES_MS.map((size, index) => {
    const whole = Math.floor(Math.max(0, ageMs) / size);
    const larger = SIZES_MS[index - 1];
    return larger === undefined ? whole : whole % (larger / size);
  });
  const first = counts.findIndex((count) => count > 0);
  if (first === -1) return words[SIZES_MS.length] ?? '';
  return counts
    .map((count, index) => ({ count, word: words[index] ?? '' }))
    .slice(first, first + 2)
    .filter(({ count }) => count > 0)
    .map(({ count, word }) => `${count} ${word}`)
    .join(' ');
}
