// @ts-check
const EVERY_MS = 60_000;

/** Refreshes the page of a tow every minute, for ages and for what becomes overdue: no event tells of it. */
export function refreshByTime() {
  setInterval(() => {
    if (document.hidden || document.body.dataset['stream'] !== 'live') return;
    document.querySelector('#tow')?.dispatchEvent(new CustomEvent('changed'));
  }, EVERY_MS);
}
