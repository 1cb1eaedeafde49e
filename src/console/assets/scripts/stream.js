// @ts-check
/**
 * The connection to the stream of events while somebody looks at the page. A browser comes back by itself when the
 * connection breaks, but not after an answer that is no stream, as of a proxy whose server is away: then this does.
 */

const RETRY_MS = 1000;
const RETRY_MAX_MS = 30_000;
/** For so long after a page was made the stream can say what happened since (`since` in its address). */
const SAID_SINCE_MS = 30_000;
/** An address of a signed-in page that costs little. */
const CHEAP = '/tasks/count';

/**
 * @param {string} address
 * @param {object} hears
 * @param {(missedSome: boolean) => void} hears.opened whether something may have happened that nobody heard
 * @param {() => void} hears.lost
 * @param {(data: string) => void} hears.event
 */
export function keepStream(address, { opened, lost, event: heard }) {
  /** @type {EventSource | null} */
  let source = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let retry;
  let retryMs = RETRY_MS;
  let isFirst = true;

  const open = () => {
    if (source !== null || document.hidden) return;
    clearTimeout(retry);
    const opening = new EventSource(address);
    source = opening;
    opening.addEventListener('open', () => {
      retryMs = RETRY_MS;
      opened(!isFirst || performance.now() > SAID_SINCE_MS);
      isFirst = false;
    });
    opening.addEventListener('error', () => {
      isFirst = false;
      lost();
      if (opening.readyState === EventSource.CLOSED && source === opening) comeBack();
    });
    for (const type of EVENT_TYPES) opening.addEventListener(type, (event) => heard(String(event.data)));
  };
  const comeBack = () => {
    source = null;
    void leaveIfSignedOut();
    // Not all pages at once, when what was away is there again.
    retry = setTimeout(open, retryMs * (0.5 + Math.random() / 2));
    retryMs = Math.min(retryMs * 2, RETRY_MAX_MS);
  };
  const close = () => {
    clearTimeout(retry);
    source?.close();
    source = null;
    isFirst = false;
  };
  document.addEventListener('visibilitychange', () => {
    if (document.hidden) close();
    else open();
  });
  globalThis.addEventListener('pagehide', close);
  // A page that is gone back to may be the one that was left, as it stood.
  globalThis.addEventListener('pageshow', open);
  open();
}

/** A stream does not tell why it was refused: whoever is signed out is led to the page that signs in. */
async function leaveIfSignedOut() {
  try {
    const { redirected, url } = await fetch(CHEAP, { headers: { 'hx-request': 'true' } });
    if (redirected && new URL(url).pathname === '/sign-in') location.reload();
  } catch {
    // Nobody answers at all: that is no reason to leave.
  }
}

const EVENT_TYPES = [
  'events.missed',
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
