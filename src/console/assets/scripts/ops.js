// @ts-check
/**
 * Refreshes the ops pages while they are in use: keeps open details, open forms and the focused element. No request is
 * made while the page is hidden or paused.
 */
import { mayAttributeChange } from './live.js';

Object.assign(Idiomorph.defaults.callbacks, {
  beforeNodeMorphed: mayBeMorphed,
  beforeNodeRemoved: mayBeRemoved,
  beforeAttributeUpdated: mayAttributeChange,
});
skipRequestsWhileHidden();

for (const button of document.querySelectorAll('[data-live-pause]')) button.removeAttribute('hidden');

/**
 * A drawn chart is kept: charts.js draws it again.
 *
 * @param {unknown} old
 */
function mayBeMorphed(old) {
  if (!(old instanceof HTMLElement)) return true;
  return old.dataset['plot'] === undefined && !isOpenForm(old);
}

/** @param {unknown} node */
function mayBeRemoved(node) {
  if (!(node instanceof HTMLElement)) return true;
  // The drawing of a chart is not part of the loaded page.
  if (node.closest('[data-plot]') !== null) return false;
  return !node.contains(document.activeElement);
}

/** @param {HTMLElement} element */
function isOpenForm(element) {
  return element instanceof HTMLDetailsElement && element.classList.contains('act') && element.open;
}

function skipRequestsWhileHidden() {
  document.addEventListener('htmx:beforeRequest', (event) => {
    if (document.hidden || document.body.dataset['stream'] === 'paused') event.preventDefault();
  });
}
