// @ts-check
/**
 * Live pages. `data-live` of the body is the address of the event stream. `data-watch` of an element lists the topics
 * that concern it (`tows`, `tow:TW-1`, `tasks`, `violations`, `violation:V-1`, `all`). It receives the event `changed` at
 * most once a second, and htmx then loads it again. A load that fails is repeated, because no further event may come;
 * until one succeeds the page shows that it cannot update. A hidden page receives no events and catches up when shown.
 */

import { announceSession, fieldOf, shareStream } from './stream.js';

const GAP_MS = 1000;
/** A part that could not be loaded is loaded again after about this time. */
const RELOAD_MS = 5000;
/** When all pages have missed events, they do not all load at once. */
const SPREAD_MS = 3000;
/** Without a limit, a request that hangs would hold up all later ones of its part. */
const LOAD_MAX_MS = 30_000;

export function watchEvents() {
  const { live: address, liveStates = '' } = document.body.dataset;
  if (address === undefined) return void announceSession();
  const [live = '', paused = '', lost = ''] = liveStates.split('|');
  const label = document.querySelector('[data-live-state]');
  let isPaused = false;
  let isOpen = false;
  let missed = 0;
  /** @type {Set<string>} */
  const topics = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;

  /** Parts whose last load failed: they show old content. @type {Set<Element>} */
  const failed = new Set();

  const show = () => {
    // A console keeps its streams open when it cannot read the records.
    const isCurrent = isOpen && ![...failed].some((part) => part.isConnected);
    const state = isPaused ? 'paused' : isCurrent ? 'live' : 'lost';
    document.body.dataset['stream'] = state;
    const words = { live, paused: missed > 0 ? `${paused} (${missed})` : paused, lost };
    if (label && label.textContent !== words[state]) label.textContent = words[state];
  };
  const dispatch = () => {
    timer = null;
    const due = new Set(topics);
    topics.clear();
    for (const element of document.querySelectorAll('[data-watch]')) {
      const watched = (element.getAttribute('data-watch') ?? '').split(' ');
      if (due.has('all') || watched.some((topic) => due.has(topic))) {
        reload(element);
      }
    }
  };
  /** @param {string[]} more */
  const note = (more) => {
    for (const topic of more) topics.add(topic);
    if (isPaused) {
      missed += 1;
      show();
    } else timer ??= setTimeout(dispatch, GAP_MS);
  };
  shareStream(address, {
    opened(missedSome) {
      isOpen = true;
      show();
      if (missedSome) note(['all']);
    },
    lost() {
      isOpen = false;
      show();
    },
    event: (data) => {
      const changed = topicsOf(data);
      if (changed.includes('all')) setTimeout(note, Math.random() * SPREAD_MS, changed);
      else note(changed);
    },
  });
  // Drop a refresh that was already under way when the page was paused. Resuming refreshes everything.
  document.addEventListener('htmx:beforeSwap', (event) => {
    if (isPaused && partOf(event) !== null) event.preventDefault();
  });
  document.addEventListener('htmx:configRequest', (event) => {
    if (partOf(event) === null) return;
    // Also a refresh by time waits: resuming a page and showing a hidden one refresh everything.
    if (isPaused || document.hidden) event.preventDefault();
    else Object.assign(detailOf(event), { timeout: LOAD_MAX_MS });
  });
  document.addEventListener('htmx:beforeOnLoad', (event) => {
    const part = partOf(event);
    if (part !== null && !mayWorkLater(event) && failed.delete(part)) show();
  });
  /** Parts that wait to be loaded again. @type {WeakSet<Element>} */
  const waiting = new WeakSet();
  for (const failure of ['htmx:responseError', 'htmx:sendError', 'htmx:timeout']) {
    document.addEventListener(failure, (event) => {
      const part = partOf(event);
      if (part === null || !mayWorkLater(event)) return;
      failed.add(part);
      show();
      if (waiting.has(part)) return;
      waiting.add(part);
      const again = () => {
        waiting.delete(part);
        if (part.isConnected) reload(part);
      };
      setTimeout(again, RELOAD_MS * (0.5 + Math.random()));
    });
  }
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-live-pause]') : null;
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    if (!isPaused) {
      topics.add('all');
      timer ??= setTimeout(dispatch, 0);
    }
    missed = 0;
    show();
  });
}

/**
 * The live part whose request an event of htmx is about; null for any other request.
 *
 * @param {Event} event
 */
function partOf({ target }) {
  return target instanceof Element && target.hasAttribute('data-watch') ? target : null;
}

/** @param {Element} part */
function reload(part) {
  part.dispatchEvent(new CustomEvent('changed', { bubbles: false }));
}

/**
 * False for a refusal that stays the same, such as that of a record that is gone.
 *
 * @param {Event} event
 */
function mayWorkLater(event) {
  const status = requestOf(event)?.status;
  // A 401 or 403 is of a proxy: the console redirects to the sign-in page, or asks to load the page again.
  return status !== undefined && ([0, 401, 403, 429].includes(status) || status >= 500);
}

/**
 * The request of an event of htmx.
 *
 * @param {Event} event
 * @returns {XMLHttpRequest | null}
 */
export function requestOf(event) {
  const detail = detailOf(event);
  return 'xhr' in detail && detail.xhr instanceof XMLHttpRequest ? detail.xhr : null;
}

/**
 * The detail of an event of htmx.
 *
 * @param {Event} event
 * @returns {object}
 */
function detailOf(event) {
  /** @type {unknown} */
  const detail = event instanceof CustomEvent ? event.detail : null;
  return typeof detail === 'object' && detail !== null ? detail : {};
}

/** @param {string} text */
function topicsOf(text) {
  /** @type {unknown} */
  const change = JSON.parse(text);
  const [family = ''] = fieldOf(change, 'type').split('.');
  // The stream cannot repeat all missed events.
  if (family === 'events') return ['all'];
  const subject = typeof change === 'object' && change !== null && 'subject' in change ? change.subject : null;
  const [kind, id] = [fieldOf(subject, 'kind'), fieldOf(subject, 'id')];
  // The id is encoded, because spaces separate the topics of `data-watch`.
  return [`${family}s`, ...(kind === '' ? [] : [`${kind}s`, `${kind}:${encodeURIComponent(id)}`])];
}

/**
 * True for an attribute that a refresh may change. The open state of a `<details>` element is kept.
 *
 * @param {unknown} name
 * @param {unknown} node
 */
export function mayAttributeChange(name, node) {
  return !(name === 'open' && node instanceof HTMLDetailsElement);
}
