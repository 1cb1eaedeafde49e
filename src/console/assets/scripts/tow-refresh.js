// @ts-check
/** Refreshes that no event asks for. */

const EVERY_MS = 60_000;

/**
 * Once the stream of events is open, for what happened while the page was on its way and nobody listened yet; then every
 * minute, for ages and for what becomes overdue.
 */
export function refreshByItself() {
  const { body } = document;
  const observer = new MutationObserver(() => {
    if (body.dataset['stream'] !== 'live') return;
    observer.disconnect();
    refresh();
  });
  observer.observe(body, { attributeFilter: ['data-stream'] });
  setInterval(() => {
    if (!document.hidden && body.dataset['stream'] === 'live') refresh();
  }, EVERY_MS);
}

function refresh() {
  document.querySelector('#tow')?.dispatchEvent(new CustomEvent('changed'));
}
