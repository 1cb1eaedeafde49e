// @ts-check
/** Scripts of the board: clickable rows, ages that keep counting, and a refresh that leaves open menus alone. */

import { durationText } from './relative-times.js';
import { mayAttributeChange } from './live.js';

const AGES_EVERY_MS = 10_000;
const MINUTE_MS = 60_000;
/** `data-now` of the shown board: the server's clock when it rendered. */
let renderedAt = '';
/** The server's clock minus the clock of the device, which may be wrong. */
let aheadMs = 0;

growAges();
leaveOpenMenus();
openRows();
stickBelowHeader();
refreshByTime();

for (const button of document.querySelectorAll('[data-live-pause]')) button.removeAttribute('hidden');

/** A refresh keeps an open menu: someone is reading it or typing into it. */
function leaveOpenMenus() {
  Idiomorph.defaults.callbacks['beforeNodeMorphed'] = (before) =>
    !(before instanceof HTMLDetailsElement && before.open && before.matches('#board .menu'));
  Idiomorph.defaults.callbacks['beforeAttributeUpdated'] = mayAttributeChange;
}

/** A click anywhere on a row opens its link. Selecting text in a row does not. */
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

/** Keeps the table head below the page header, whose height varies. */
function stickBelowHeader() {
  const header = document.querySelector('header.top');
  if (header === null) return;
  const note = () => {
    const height = getComputedStyle(header).position === 'sticky' ? header.getBoundingClientRect().height : 0;
    document.documentElement.style.setProperty('--head-height', `${height}px`);
  };
  new ResizeObserver(note).observe(header);
}

/** Refreshes the board once a minute, because no event reports that a tow became overdue. */
function refreshByTime() {
  setInterval(() => document.querySelector('#board')?.dispatchEvent(new CustomEvent('changed')), MINUTE_MS);
}

/** Updates the ages of tows, in whole minutes, while the page is open. */
function growAges() {
  writeAges();
  setInterval(writeAges, AGES_EVERY_MS);
}

function writeAges() {
  const board = document.querySelector('#board');
  if (!(board instanceof HTMLElement) || document.hidden) return;
  const { now = '', ageUnits = '' } = board.dataset;
  if (now !== renderedAt) {
    renderedAt = now;
    aheadMs = Number(now) - Date.now();
  }
  const units = ageUnits.split('|');
  for (const element of board.querySelectorAll('time[data-age]')) {
    const age = ageOf(Date.now() + aheadMs - Date.parse(element.getAttribute('datetime') ?? ''), units);
    if (element.textContent !== age) element.textContent = age;
  }
}

/**
 * In whole minutes.
 *
 * @param {number} ageMs
 * @param {string[]} units Days, hours, minutes, and the text below a minute.
 */
function ageOf(ageMs, [days = '', hours = '', minutes = '', now = '']) {
  const wholeMs = Math.max(0, ageMs - (ageMs % MINUTE_MS));
  return durationText(wholeMs, [days, hours, minutes]) || now;
}
