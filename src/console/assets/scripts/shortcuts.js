// @ts-check
/** Keyboard shortcuts: those of links stand in `data-hotkey`; rows are walked with j and k. Off while somebody types. */
import { install } from './hotkey.js';

export function enableShortcuts() {
  const sheet = document.querySelector('#shortcut-sheet');
  for (const opener of document.querySelectorAll('[data-sheet]')) {
    opener.addEventListener('click', (event) => {
      if (!(sheet instanceof HTMLDialogElement)) return;
      event.preventDefault();
      sheet.showModal();
    });
  }
  if (document.body.dataset['shortcuts'] !== 'on') return;
  for (const element of document.querySelectorAll('[data-hotkey]')) {
    if (element instanceof HTMLElement) install(element);
  }
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const does = KEYS[event.key];
    if (does?.(sheet)) event.preventDefault();
  });
}

/** @type {Readonly<Record<string, (sheet: Element | null) => boolean>>} */
const KEYS = {
  '/': () => focusOn(document.querySelector('[data-search]')),
  '?': (sheet) => {
    if (!(sheet instanceof HTMLDialogElement) || sheet.open) return false;
    sheet.showModal();
    return true;
  },
  j: () => walk(1),
  k: () => walk(-1),
  p: () => {
    const pause = document.querySelector('[data-live-pause]');
    if (!(pause instanceof HTMLElement)) return false;
    pause.click();
    return true;
  },
};

/** Moves to the link of the next row; Enter then opens it, as it does with any link. */
function walk(/** @type {1 | -1} */ step) {
  const links = [...document.querySelectorAll('[data-row-link]')];
  const at = links.findIndex((link) => link === document.activeElement);
  const next = at === -1 ? (step === 1 ? 0 : links.length - 1) : at + step;
  return focusOn(links[next] ?? null);
}

function focusOn(/** @type {Element | null} */ element) {
  if (!(element instanceof HTMLElement)) return false;
  element.focus();
  return true;
}

function isTyping(/** @type {EventTarget | null} */ target) {
  return (
    target instanceof Element && target.closest('input, select, textarea, dialog[open], [contenteditable]') !== null
  );
}
