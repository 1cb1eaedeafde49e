// @ts-check
/** What the board does beyond links and forms: rows that open where they are pressed, ages that grow, calm refreshing. */
import { growAges } from './board-ages.js';

growAges();
leaveOpenMenus();
openRows();
stickBelowHeader();
refreshByTime();

for (const button of document.querySelectorAll('[data-live-pause]')) button.removeAttribute('hidden');

/** What is open is being read or typed into: a refresh leaves it as it is. */
function leaveOpenMenus() {
  Idiomorph.defaults.callbacks['beforeNodeMorphed'] = (before) =>
    !(before instanceof HTMLDetailsElement && before.open && before.closest('#board') !== null);
}

/** A row opens wherever it is pressed, as its link does; text in it can still be marked and copied. */
function openRows() {
  document.addEventListener('click', (event) => {
    const { target } = event;
    if (!(target instanceof Element) || target.closest('a, button, summary, details, input') !== null) return;
    const link = target.closest('.tow-row')?.querySelector('[data-row-link]');
    if (!link || getSelection()?.isCollapsed === false) return;
    const { ctrlKey, metaKey, shiftKey } = event;
    link.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey }));
  });
}

/** The head of the table stays below the header of the page, however high that is. */
function stickBelowHeader() {
  const header = document.querySelector('header.top');
  if (header === null) return;
  const note = () => {
    const height = getComputedStyle(header).position === 'sticky' ? header.getBoundingClientRect().height : 0;
    document.documentElement.style.setProperty('--head-height', `${height}px`);
  };
  new ResizeObserver(note).observe(header);
}

/** What becomes overdue does so without an event. */
function refreshByTime() {
  const EVERY_MS = 60_000;
  setInterval(() => {
    if (document.hidden || document.body.dataset['stream'] === 'paused') return;
    document.querySelector('#board')?.dispatchEvent(new CustomEvent('changed'));
  }, EVERY_MS);
}
