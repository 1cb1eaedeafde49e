// @ts-check
/**
 * Refreshes the page of a tow or violation while it is in use. Open details stay open. A form (`data-live-form`)
 * is replaced only if it changed and is not in use; a changed form that is in use shows that the tow has changed.
 */
import { isChanged } from './entries.js';
import { mayAttributeChange } from './live.js';
import { enablePositionButtons } from './position.js';
import { sendUploads } from './upload.js';
import { gatherImages } from './violation-images.js';

// The photos of a tow, and other images of a violation. A refresh of the page may have replaced the form.
sendUploads();
document.addEventListener('htmx:afterSettle', gatherImages);

const REFRESH_EVERY_MS = 60_000;
/** Riyadh is UTC+3 all year. */
const RIYADH_OFFSET_MS = 3 * 3_600_000;

Object.assign(Idiomorph.defaults.callbacks, {
  beforeNodeMorphed: mayBeMorphed,
  beforeNodeRemoved: mayBeRemoved,
  beforeAttributeUpdated: mayAttributeChange,
});
enablePositionButtons();
refreshByTime();
limitToPast();

/**
 * @param {unknown} old
 * @param {unknown} next
 */
function mayBeMorphed(old, next) {
  if (!isLiveForm(old) || !isLiveForm(next)) return true;
  return old.dataset['liveForm'] !== next.dataset['liveForm'] && !isKept(old);
}

/** @param {unknown} node */
function mayBeRemoved(node) {
  if (!(node instanceof HTMLElement)) return true;
  const forms = [node, ...node.querySelectorAll('[data-live-form]')].filter(isLiveForm);
  return !forms.map(isKept).includes(true);
}

/**
 * @param {unknown} node
 * @returns {node is HTMLElement}
 */
function isLiveForm(node) {
  return node instanceof HTMLElement && node.dataset['liveForm'] !== undefined;
}

/**
 * True for a form in use. Shows its stale notice.
 *
 * @param {HTMLElement} form
 */
function isKept(form) {
  if (!isInUse(form)) return false;
  const stale = form.querySelector('[data-stale]');
  if (stale instanceof HTMLElement) stale.hidden = false;
  return true;
}

/** @param {HTMLElement} form */
function isInUse(form) {
  const fields = [...form.querySelectorAll('input, select, textarea')];
  return (
    form.querySelector('details[open]:not([data-open]), .problem') !== null ||
    fields.some((field) => field === document.activeElement || isChanged(field))
  );
}

/** Refreshes the page of a tow every minute, because no event reports ages and overdue marks. */
function refreshByTime() {
  setInterval(() => {
    if (document.body.dataset['stream'] !== 'live') return;
    document.querySelector('#tow')?.dispatchEvent(new CustomEvent('changed'));
  }, REFRESH_EVERY_MS);
}

/** Keeps a field for a past time from taking a future one. Its limit is set when it is used, as the page may be old. */
function limitToPast() {
  document.addEventListener('focusin', ({ target }) => {
    if (!(target instanceof HTMLInputElement) || target.dataset['past'] === undefined) return;
    target.max = new Date(Date.now() + RIYADH_OFFSET_MS).toISOString().slice(0, 16);
  });
}
