// @ts-check
/**
 * Live pages. The body names the stream of events; an element says by `data-watch` which events concern it (`tows`,
 * `tow:TW-1`, `tasks`, `violations`, `violation:V-1`, `all`) and hears of them by the event `changed`, at most once a
 * second; htmx then fetches it anew. A page that nobody sees holds no connection and catches up when it is seen again.
 */

const GAP_MS = 1000;

export function watchEvents() {
  const { live: address, liveWords = '' } = document.body.dataset;
  if (address === undefined) return;
  const [live = '', paused = '', lost = ''] = liveWords.split('|');
  const label = document.querySelector('[data-live-state]');
  /** @type {EventSource | null} */
  let source = null;
  let isPaused = false;
  let missed = 0;
  /** @type {Set<string>} */
  const topics = new Set();
  /** @type {ReturnType<typeof setTimeout> | null} */
  let timer = null;

  /** @param {'live' | 'paused' | 'lost'} state */
  const show = (state) => {
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
      show('paused');
    } else timer ??= setTimeout(tell, GAP_MS);
  };
  const open = () => {
    if (source !== null || document.hidden) return;
    source = new EventSource(address);
    source.addEventListener('open', () => {
      show(isPaused ? 'paused' : 'live');
      // What happened since the page was made, or since the stream was lost, was not heard.
      note(['all']);
    });
    source.addEventListener('error', () => show('lost'));
    for (const type of EVENT_TYPES) {
      source.addEventListener(type, (event) => note(topicsOf(String(event.data))));
    }
  };
  const close = () => {
    source?.close();
    source = null;
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close();
    else {
      open();
    }
  });
  globalThis.addEventListener('pagehide', close);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-live-pause]') : null;
    if (!button) return;
    isPaused = !isPaused;
    button.setAttribute('aria-pressed', String(isPaused));
    if (!isPaused && missed > 0) timer ??= setTimeout(tell, 0);
    missed = 0;
    show(isPaused ? 'paused' : 'live');
  });
  open();
}

const EVENT_TYPES = [
  'tow.changed',
  'violation.changed',
  'task.opened',
  'task.closed',
  'delivery.accepted',
  'delivery.processed',
  'gate.closed',
  'gate.opened',
  'bulk.changed',
];

/** @param {string} text */
function topicsOf(text) {
  /** @type {unknown} */
  const change = JSON.parse(text);
  const [family = ''] = fieldOf(change, 'type').split('.');
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
