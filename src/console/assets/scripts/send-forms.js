// @ts-check
/**
 * Sends forms in the background, so that a lost connection keeps the page with its entries, and shows in the form what
 * happened. Without scripts the browser sends a form itself, and shows its own page when the connection is lost.
 */
import { dropEntries, forgetEntries, forgetKey, keepSent, restoreEntries, showOutcome } from './kept-entries.js';

/** A form without a response after this time may be sent again. */
const AGAIN_MS = 10_000;
const ANSWER_MAX_MS = 60_000;
/** The state of a page that was loaded again to go to the place of its address. */
const AT_PLACE = 'at-place';
/** The forms of the header that would lose a content which is shown once (layout.tsx). */
const PREFERENCES = 'header form[action$="/preferences"]';

/** @typedef {{ form: HTMLFormElement, startedMs: number, abort: AbortController }} Sending */

/** @type {Sending | null} */
let underWay = null;

/**
 * Ignores a second submit of a form that is being sent: the first response may have texts that are shown once, such as a
 * new API key. A changed form, or one without a response after 10 s, is sent again.
 */
export function sendForms() {
  focusPlace();
  // On the window, after all other listeners: a script that sends the form itself has called preventDefault by then.
  globalThis.addEventListener('submit', (event) => {
    const { target: form, submitter } = event;
    if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return;
    const isLost = !navigator.onLine;
    if (form.method !== 'post' && !isLost) return;
    event.preventDefault();
    if (isLost) return showOutcome(form, 'notSent');
    if (underWay?.form === form && performance.now() - underWay.startedMs < AGAIN_MS) return;
    underWay?.abort.abort();
    underWay = { form, startedMs: performance.now(), abort: new AbortController() };
    void send(underWay, submitter);
  });
  document.addEventListener('input', ({ target }) => {
    if (underWay !== null && target instanceof Element && target.closest('form') === underWay.form) {
      underWay.startedMs = -AGAIN_MS;
    }
  });
}

/**
 * @param {Sending} sending
 * @param {HTMLElement | null} submitter
 */
async function send(sending, submitter) {
  const { form, abort } = sending;
  keepSent(form);
  showOutcome(form, '');
  form.ariaBusy = 'true';
  const timer = setTimeout(() => abort.abort(), ANSWER_MAX_MS);
  try {
    const body = bodyOf(form, submitter);
    // Asks for a whole page, as htmx does, and for the address of a redirect in a header (serve.tsx).
    const headers = { 'hx-boosted': 'true' };
    const address = form.getAttribute('action') ?? '';
    const answer = await fetch(address, { method: 'POST', body, headers, signal: abort.signal });
    const text = await answer.text();
    if (underWay === sending) takeAnswer(form, answer, text);
  } catch {
    if (underWay === sending) showOutcome(form, 'uncertain');
  }
  clearTimeout(timer);
  form.ariaBusy = null;
  if (underWay === sending) underWay = null;
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLElement | null} submitter
 */
function bodyOf(form, submitter) {
  const body = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value);
  if (submitter instanceof HTMLButtonElement && submitter.name !== '') body.append(submitter.name, submitter.value);
  return body;
}

/**
 * @param {HTMLFormElement} form
 * @param {Response} answer
 * @param {string} text
 */
function takeAnswer(form, { status, headers }, text) {
  const next = headers.get('hx-redirect');
  if (next !== null) {
    forgetEntries();
    if (form.getAttribute('action')?.includes('/sign-out')) dropEntries();
    return visit(next);
  }
  const page = new DOMParser().parseFromString(text, 'text/html');
  const content = page.querySelector('#content');
  // Not from the console, but from a proxy in front of it.
  if (content === null) return showOutcome(form, outcomeOf(status));
  const problem = content.querySelector('.problem');
  if (problem !== null && status < 500) forgetKey(problem);
  else if (status < 400) forgetEntries();
  show(page, content);
}

/**
 * What an answer of a proxy says: a 4xx did not reach the console; of a 5xx the outcome is unknown.
 *
 * @param {number} status
 */
export function outcomeOf(status) {
  if (status === 413) return 'tooLarge';
  return status >= 400 && status < 500 ? 'refusedByProxy' : 'uncertain';
}

/**
 * Opens an address. The browser would only scroll to a place of this page, so the page is loaded again.
 *
 * @param {string} address
 */
function visit(address) {
  const { pathname, search, hash } = new URL(address, location.href);
  if (hash === '' || pathname + search !== location.pathname + location.search) return location.assign(address);
  history.replaceState(AT_PLACE, '', address);
  history.scrollRestoration = 'manual';
  location.reload();
}

/** Goes to the place that `visit` has loaded the page again for. */
function focusPlace() {
  if (history.state !== AT_PLACE) return;
  history.replaceState(null, '');
  history.scrollRestoration = 'auto';
  document.getElementById(location.hash.slice(1))?.focus();
}

/**
 * Shows the content of a page in this one, with the scripts and styles that it needs.
 *
 * @param {Document} page
 * @param {Element} content
 */
function show(page, content) {
  if (content.querySelector('[data-sign-in]')) dropEntries();
  document.title = page.title;
  const shown = document.importNode(content, true);
  document.querySelector('#content')?.replaceWith(shown);
  if (page.querySelector(PREFERENCES) === null) {
    for (const form of document.querySelectorAll(PREFERENCES)) (form.closest('.preferences details') ?? form).remove();
  }
  for (const { rel, href } of missing(page.querySelectorAll('link'), 'href')) {
    document.head.append(Object.assign(document.createElement('link'), { rel, href }));
  }
  for (const { type, src } of missing(page.querySelectorAll('script'), 'src')) {
    document.head.append(Object.assign(document.createElement('script'), { type, src, async: false }));
  }
  htmx.process(shown);
  restoreEntries();
  document.dispatchEvent(new CustomEvent('htmx:afterSwap'));
  document.dispatchEvent(new CustomEvent('htmx:afterSettle'));
  const reason = shown.querySelector('[data-focus]') ?? shown;
  if (reason instanceof HTMLElement) reason.focus();
}

/**
 * Those that this page does not have.
 *
 * @template {Element} T
 * @param {NodeListOf<T>} elements
 * @param {string} name
 */
function missing(elements, name) {
  return [...elements].filter(
    (each) => !document.querySelector(`${each.localName}[${name}="${each.getAttribute(name) ?? ''}"]`),
  );
}
