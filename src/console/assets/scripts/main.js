// @ts-check
/** Scripts of every page. The console works without them. */
import { hasUnsentEntries, isSignIn } from './entries.js';
import { keepEntries } from './kept-entries.js';
import { requestOf, watchEvents } from './live.js';
import { sendForms } from './send-forms.js';
import { enableShortcuts } from './shortcuts.js';

watchEvents();
enableShortcuts();
sendForms();
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
