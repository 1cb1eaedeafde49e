// @ts-check
/**
 * The event stream of a session, which all its visible windows share: over HTTP/1.1 a browser has six connections to a
 * host, and each stream occupies one. The window that holds a lock leads: it keeps the stream open and hands its events on.
 * When it is hidden or closed, the next window in line gets the lock. Locks need HTTPS or localhost; without them each
 * window has a stream of its own.
 */

import { hasUnsentEntries, isSignIn, ROOT } from './entries.js';
import { sessionOfPage } from './kept-entries.js';

const RETRY_MS = 1000;
const RETRY_MAX_MS = 30_000;
/** The stream repeats what happened since the page was rendered (`after` in its address), for a page this young. */
const REPEATED_MS = 30_000;
/** How often a page whose session has ended looks whether its unsent entries are gone. */
const LEAVE_AGAIN_MS = 5000;
/** A cheap address that needs a session. */
const SESSION_PROBE = `${ROOT}tasks/count`;

/**
 * @typedef {object} Watcher
 * @property {(missedSome: boolean) => void} opened `missedSome`: events may have been missed
 * @property {() => void} lost
 * @property {(data: string) => void} event
 */

/**
 * Reports the events of the session while the page is visible. Once a page of another session was loaded, it reports no
 * more, and loads the page again unless that would lose unsent entries.
 *
 * @param {string} address
 * @param {Watcher} watcher
 */
export function shareStream(address, { opened, lost, event }) {
  const session = sessionOfPage();
  const name = `${ROOT}events ${session}`;
  const channel = new BroadcastChannel(name);
  const me = String(Math.random());
  /** Aborted when the page leaves the stream. @type {AbortController | null} */
  let stay = null;
  /** @type {ReturnType<typeof leadStream> | null} */
  let led = null;
  /** Nothing can be missed: the stream repeats what happened since the page was rendered. */
  let isFresh = true;
  let hasEnded = false;

  const watcher = {
    event,
    /** @param {boolean} missedSome */
    opened(missedSome) {
      isFresh = false;
      opened(missedSome);
    },
    lost() {
      isFresh = false;
      lost();
    },
  };
  /** @param {AbortSignal} signal */
  const lead = (signal) => {
    led = leadStream(address, {
      signal,
      watcher,
      isFresh: () => isFresh && performance.now() <= REPEATED_MS,
      say: (message) => post(channel, message),
    });
  };
  const join = () => {
    if (stay !== null || hasEnded || document.hidden) return;
    stay = new AbortController();
    const { signal } = stay;
    if (!('locks' in navigator)) return lead(signal);
    const hold = () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(null);
        signal.addEventListener('abort', resolve);
        lead(signal);
      });
    // Rejects when the page leaves before it leads.
    navigator.locks.request(name, { signal }, hold).catch(() => {});
    post(channel, { kind: 'joined', from: me, ageMs: String(isFresh ? performance.now() : Infinity) });
  };
  const leave = () => {
    stay?.abort();
    stay = null;
    led = null;
    isFresh = false;
  };
  channel.addEventListener('message', ({ data }) => {
    const [kind, to] = [fieldOf(data, 'kind'), fieldOf(data, 'to')];
    if (stay === null) return;
    if (kind === 'joined') return led?.welcome(fieldOf(data, 'from'), Number(fieldOf(data, 'ageMs')));
    if (led !== null || (to !== '' && to !== me)) return;
    if (kind === 'event') event(fieldOf(data, 'data'));
    if (kind === 'opened' || kind === 'current') watcher.opened(kind === 'opened');
    if (kind === 'lost' || kind === 'refused') watcher.lost();
    if (kind === 'refused') void leaveIfSignedOut();
  });
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) leave();
    else join();
  });
  globalThis.addEventListener('pagehide', leave);
  // The browser may restore the page from its cache.
  globalThis.addEventListener('pageshow', join);
  join();
  const end = () => {
    hasEnded = true;
    if (hasUnsentEntries()) setTimeout(end, LEAVE_AGAIN_MS);
    else location.reload();
  };
  announceSession().addEventListener('message', ({ data }) => {
    if (data === session || hasEnded) return;
    leave();
    lost();
    if (data !== '') return end();
    // The sign-in page may also come from a wrong key, which ends no session.
    void isSignedOut().then((isEnd) => (isEnd ? end() : join()));
  });
}

/** Sends the session of this page, '' on the sign-in page, to all others, so that those of another session end. */
export function announceSession() {
  const sessions = new BroadcastChannel(`${ROOT}session`);
  const session = sessionOfPage();
  // An error page does not know its session.
  if (session !== '' || document.querySelector('[data-sign-in]')) post(sessions, session);
  return sessions;
}

/**
 * Keeps an event stream open and hands its events on. The browser reconnects by itself after a lost connection, but not
 * after a response that is no stream, such as an error page of a proxy; this function does.
 *
 * @param {string} address
 * @param {object} tools
 * @param {AbortSignal} tools.signal ends the stream
 * @param {Watcher} tools.watcher
 * @param {() => boolean} tools.isFresh
 * @param {(message: object) => void} tools.say
 */
function leadStream(address, { signal, watcher, isFresh, say }) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry;
  let retryMs = RETRY_MS;
  /** Null until the first connection is made or fails. @type {boolean | null} */
  let isOpen = null;
  let openedMs = 0;
  /** The events that a page which was just rendered may have missed. @type {{ atMs: number, data: string }[]} */
  let recent = [];

  const open = () => {
    // A page that is not fresh reads everything again.
    const opening = new EventSource(isFresh() ? address : address.replace(/\?.*$/, ''));
    source = opening;
    opening.addEventListener('open', () => {
      retryMs = RETRY_MS;
      isOpen = true;
      openedMs = performance.now();
      watcher.opened(!isFresh());
      say({ kind: 'opened' });
    });
    opening.addEventListener('error', () => {
      isOpen = false;
      watcher.lost();
      const isRefused = opening.readyState === EventSource.CLOSED && source === opening;
      say({ kind: isRefused ? 'refused' : 'lost' });
      if (isRefused) comeBack();
    });
    opening.addEventListener('message', (event) => {
      const [atMs, data] = [performance.now(), String(event.data)];
      recent = [...recent.filter((each) => each.atMs > atMs - REPEATED_MS), { atMs, data }];
      watcher.event(data);
      say({ kind: 'event', data });
    });
  };
  const comeBack = () => {
    void leaveIfSignedOut();
    // Jitter, so that all pages do not reconnect at once.
    retry = setTimeout(open, retryMs * (0.5 + Math.random() / 2));
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  };
  signal.addEventListener('abort', () => {
    clearTimeout(retry);
    source?.close();
    source = null;
  });
  open();
  return {
    /**
     * Sends the events since the navigation to a page that has joined, or that it may have missed some.
     *
     * @param {string} to
     * @param {number} ageMs
     */
    welcome(to, ageMs) {
      if (isOpen === null) return;
      const sinceMs = performance.now() - ageMs;
      if (!isOpen) return say({ kind: 'lost', to });
      if (ageMs > REPEATED_MS || sinceMs < openedMs) return say({ kind: 'opened', to });
      for (const { atMs, data } of recent) if (atMs >= sinceMs) say({ kind: 'event', to, data });
      say({ kind: 'current', to });
    },
  };
}

/**
 * An event stream does not report why it was refused. Loads the page again if the session has ended, unless that would
 * lose unsent entries.
 */
async function leaveIfSignedOut() {
  if ((await isSignedOut()) && !hasUnsentEntries()) location.reload();
}

/** False also while the server does not respond. */
async function isSignedOut() {
  try {
    const { redirected, url } = await fetch(SESSION_PROBE, { headers: { 'hx-request': 'true' } });
    return redirected && isSignIn(url);
  } catch {
    return false;
  }
}

/**
 * @param {BroadcastChannel} channel
 * @param {string | object} message
 */
function post(channel, message) {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- A channel is of its origin and takes no target.
  channel.postMessage(message);
}

/**
 * A string property of an object; '' when it is absent.
 *
 * @param {unknown} value
 * @param {string} name
 */
export function fieldOf(value, name) {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  /** @type {unknown} */
  const field = new Map(entries).get(name);
  return typeof field === 'string' ? field : '';
}
