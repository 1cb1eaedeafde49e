// @ts-check
/** What every page does beyond links and forms. Nothing here is needed to do one's work; it makes it faster. */
import { watchEvents } from './live.js';
import { sendFormsOnce } from './send-once.js';
import { enableShortcuts } from './shortcuts.js';

watchEvents();
enableShortcuts();
sendFormsOnce();
leaveWhenSignedOut();

/** After a refusal the reason is what is read next. */
for (const element of document.querySelectorAll('[data-focus]')) {
  if (element instanceof HTMLElement) element.focus();
}

/** A menu closes when something else is looked at. */
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

/** Who is signed out meanwhile is asked to sign in, on a page of its own. */
function leaveWhenSignedOut() {
  document.addEventListener('htmx:beforeSwap', (event) => {
    if (!(event instanceof CustomEvent)) return;
    /** @type {unknown} */
    const detail = event.detail;
    const xhr = typeof detail === 'object' && detail !== null && 'xhr' in detail ? detail.xhr : null;
    const address = xhr instanceof XMLHttpRequest ? xhr.responseURL : '';
    if (!URL.canParse(address) || new URL(address).pathname !== '/sign-in') return;
    event.preventDefault();
    location.reload();
  });
}
