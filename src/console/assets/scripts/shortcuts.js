// @ts-check
/** Keyboard shortcuts: `data-hotkey` of links, and j and k to move between rows. Off while typing. */
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
    if (!(element instanceof HTMLElement)) continue;
    const keys = element.dataset['hotkey'] ?? '';
    install(element, keys);
    const arabic = keys.split(' ').map((key) => ARABIC_KEYS[key] ?? key);
    install(element, arabic.join(' '));
  }
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const does = KEYS[event.key] ?? KEYS[LATIN_KEYS.get(event.key) ?? ''];
    if (does?.(sheet)) event.preventDefault();
  });
}

/**
 * What the same keys type on an Arabic keyboard.
 * @type {Readonly<Record<string, string>>}
 */
const ARABIC_KEYS = { g: 'ل', b: 'لا', t: 'ف', v: 'ر', l: 'م', o: 'خ', j: 'ت', k: 'ن', p: 'ح', '/': 'ظ', '?': '؟' };
const LATIN_KEYS = new Map(Object.entries(ARABIC_KEYS).map(([latin, arabic]) => [arabic, latin]));

/** @type {Readonly<Record<string, (sheet: Element | null) => boolean>>} */
const KEYS = {
  '/': () => focusOn(document.querySelector('[data-search]')),
  '?': (sheet) => {
    if (!(sheet instanceof HTMLDialogElement) || sheet.open) return false;
    sheet.showModal();
    return true;
  },
  j: () => moveToRow(1),
  k: () => moveToRow(-1),
  p: () => {
    const pause = document.querySelector('[data-live-pause]');
    if (!(pause instanceof HTMLElement)) return false;
    pause.click();
    return true;
  },
};

/** Focuses the link of the next or previous row. */
function moveToRow(/** @type {1 | -1} */ step) {
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
