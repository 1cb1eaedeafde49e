// @ts-check
/**
 * Live pages. The body names the stream of events; an element says by `data-watch` which events concern it (`tows`,
 * `tow:TW-1`, `tasks`, `violations`, `violation:V-1`, `all`) and hears of them by the event `changed`, at most once a
 * second; htmx then fetches it anew. A page that nobody sees holds no connection and catches up when it is seen again.
 */
import { keepStream } from './stream.js';

const GAP_MS = 1000;

export function watchEvents() {
  const { live: address, liveWords = '' } = document.body.dataset;
  if (address === undefined) return;
  const [live = '', paused = '', lost = ''] = liveWords.split('|');
  const label = document.querySelector('[data-live-state]');
  let isPaused = false;
  let isOpen = false;
  let missed = 0;
  /** @type {Set<string>} */
  const topics = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;

  const show = () => {
    const state = isPaused ? 'paused' : isOpen ? 'live' : 'lost';
    document.body.dataset['stream'] = state;
    const words = { live, paused: missed > 0 ? `${paused} (${missed})` : paused, lost };
    if (label && label.textContent !== words[state]) label.textContent = words[state];
  };
  const tell = () => {
    timer = null;
    const due = new Set(topics);
    topics.clear();
    for (const element of document.querySelectorAll('[data-watch]')) {
      const watched = (element.getAttribute('data-watch') ?? '').split(' ');
      if (due.has('all') || watched.some((topic) => due.has(topic))) {
        element.dispatchEvent(new CustomEvent('changed', { bubbles: false }));
      }
    }
  };
  /** @param {string[]} more */
  const note = (more) => {
    for (const topic of more) topics.add(topic);
    if (isPaused) {
      missed += 1;
      show();
    } else timer ??= setTimeout(tell, GAP_MS);
  };
  keepStream(address, {
    opened(missedSome) {
      isOpen = true;
      show();
      if (missedSome) note(['all']);
    },
    lost() {
      isOpen = false;
      show();
    },
    event: (data) => note(topicsOf(data)),
  });
  // A refresh that was planned or on its way when the page was paused; resuming catches up.
  document.addEventListener('htmx:beforeSwap', (event) => {
    const isRefresh = event.target instanceof Element && event.target.hasAttribute('data-watch');
    if (isPaused && isRefresh) event.preventDefault();
  });
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-live-pause]') : null;
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    if (!isPaused) {
      topics.add('all');
      timer ??= setTimeout(tell, 0);
    }
    missed = 0;
    show();
  });
}

/** @param {string} text */
function topicsOf(text) {
  /** @type {unknown} */
  const change = JSON.parse(text);
  const [family = ''] = fieldOf(change, 'type').split('.');
  // More happened than the stream repeats.
  if (family === 'events') return ['all'];
  const [tow, violation] = [fieldOf(change, 'towing_reference_id'), fieldOf(change, 'violation_id')];
  return [
    `${family}s`,
    ...(tow === '' ? [] : ['tows', `tow:${tow}`]),
    ...(violation === '' ? [] : ['violations', `violation:${violation}`]),
  ];
}

/**
 * A text of an object by its name, empty when it has none.
 *
 * @param {unknown} value
 * @param {string} name
 */
function fieldOf(value, name) {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  /** @type {unknown} */
  const field = new Map(entries).get(name);
  return typeof field === 'string' ? field : '';
}
