// @ts-check
/** Keyboard shortcuts: `data-hotkey` of links, and j and k to move between rows. Off while typing. */

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
  let prefixMs = -Infinity;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const key = LATIN_KEYS.get(event.key) ?? event.key;
    const isSecond = performance.now() - prefixMs < SEQUENCE_MS;
    prefixMs = key === PREFIX && !isSecond ? performance.now() : -Infinity;
    const link = isSecond ? document.querySelector(`[data-hotkey="${PREFIX} ${CSS.escape(key)}"]`) : null;
    if (link instanceof HTMLElement) link.click();
    else if (!KEYS[key]?.(sheet)) return;
    event.preventDefault();
  });
}

/** The first key of those of `data-hotkey`, and how long the second one is waited for. */
const PREFIX = 'g';
const SEQUENCE_MS = 1500;

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
