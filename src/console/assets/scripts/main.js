// @ts-check
/** Scripts of every page. The console works without them. */
import { hasUnsentEntries, isOffline, isSignIn } from './entries.js';
import { keepEntries, markSent } from './kept-entries.js';
import { requestOf, watchEvents } from './live.js';
import { enableShortcuts } from './shortcuts.js';

const SENDING_MAX_MS = 10_000;

watchEvents();
enableShortcuts();
sendFormsOnce();
leaveWhenSignedOut();
keepUnsentEntries();
keepEntries();

// After a refusal the focus goes to the reason.
for (const element of document.querySelectorAll('[data-focus]')) {
  if (element instanceof HTMLElement) element.focus();
}

// A click outside a menu closes it.
document.addEventListener('click', (event) => {
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    if (event.target instanceof Node && !menu.contains(event.target)) menu.removeAttribute('open');
  }
});

document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape') return;
  for (const menu of document.querySelectorAll('details.menu[open]')) {
    menu.removeAttribute('open');
    const opener = menu.querySelector('summary');
    if (menu.contains(document.activeElement)) opener?.focus();
  }
});

/** Loads the page again when a refresh was redirected to the sign-in page, unless that would lose unsent entries. */
function leaveWhenSignedOut() {
  document.addEventListener('htmx:beforeSwap', (event) => {
    if (!isSignIn(requestOf(event)?.responseURL ?? '')) return;
    event.preventDefault();
    if (!hasUnsentEntries()) location.reload();
  });
}

/** Ignores a refused refresh that asks to load the page again (`HX-Refresh`) while that would lose unsent entries. */
function keepUnsentEntries() {
  document.addEventListener('htmx:beforeOnLoad', (event) => {
    const isReload = requestOf(event)?.getResponseHeader('HX-Refresh') === 'true';
    if (isReload && hasUnsentEntries()) event.preventDefault();
  });
}

/**
 * Ignores a second submit of a form that is being sent. The browser would discard the first response, and with it texts
 * that are shown once, such as a new API key. A changed form, or one without a response after 10 s, is sent again.
 */
function sendFormsOnce() {
  /** @type {Map<HTMLFormElement, number>} */
  let sentMs = new Map();
  // On the window, after all other listeners: a script that sends the form itself has called preventDefault by then.
  globalThis.addEventListener('submit', (event) => {
    const { target: form } = event;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || event.defaultPrevented) return;
    const before = sentMs.get(form);
    if (before !== undefined && performance.now() - before < SENDING_MAX_MS) return event.preventDefault();
    if (isOffline(form)) return event.preventDefault();
    sentMs.set(form, performance.now());
    markSent(form);
  });
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest('form') : null;
    if (form) sentMs.delete(form);
  });
  // The browser may restore the page from its cache with these entries.
  globalThis.addEventListener('pageshow', () => {
    sentMs = new Map();
  });
}
