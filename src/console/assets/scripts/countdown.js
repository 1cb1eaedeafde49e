// @ts-check
/**
 * Counts down each `data-countdown` (milliseconds left when the page was rendered) in the two largest units of
 * `data-units` (`d|h|min|s`), within `data-sentence` (`in {time}`). In the last second and after it,
 * shows `data-over`. Uses the time since the page was loaded, because the clock of the device may be wrong.
 */

import { durationText } from './duration.js';

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
  const { countdown = '0', units = '', over = '', sentence = '{time}' } = element.dataset;
  let known = ends.get(element);
  // A refresh brings a new value.
  if (known?.text !== countdown) {
    known = { text: countdown, endsAt: performance.now() + Number(countdown) };
    ends.set(element, known);
  }
  const left = known.endsAt - performance.now();
  const text = left < 1000 ? over : sentence.replace('{time}', durationText(left, units.split('|')));
  if (element.textContent !== text) element.textContent = text;
}
