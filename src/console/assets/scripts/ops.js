// @ts-check
/**
 * The pages of ops, refreshed while somebody works on them: what is folded out stays so, a form that is open stays as it
 * is, and what has the focus stays where it is. Nobody is asked while nobody looks, or while the page is paused.
 */
import { isNoFold } from './folds.js';

Object.assign(Idiomorph.defaults.callbacks, {
  beforeNodeMorphed: mayBeMorphed,
  beforeNodeRemoved: mayBeRemoved,
  beforeAttributeUpdated: isNoFold,
});
restWhileNobodyLooks();

for (const button of document.querySelectorAll('[data-live-pause]')) button.removeAttribute('hidden');

/**
 * Charts are drawn by their own script.
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
  // What is drawn into a chart does not come with the page.
  if (node.closest('[data-plot]') !== null) return false;
  return !node.contains(document.activeElement);
}

/** @param {HTMLElement} element */
function isOpenForm(element) {
  return element instanceof HTMLDetailsElement && element.classList.contains('act') && element.open;
}

function restWhileNobodyLooks() {
  document.addEventListener('htmx:beforeRequest', (event) => {
    if (document.hidden || document.body.dataset['stream'] === 'paused') event.preventDefault();
  });
}
