// @ts-check
/**
 * The page of a tow, refreshed while somebody works on it. What is folded out stays so. Forms (`data-offer`, offer.tsx)
 * are left alone while they mean the same; when they do not any more they are replaced, unless somebody has begun to use
 * them or was refused what they say: then they stay as they are, and say that the tow has changed.
 */
import { isNoFold } from './folds.js';
import { offerPositions } from './position.js';
import { previewPhotos } from './tow-photos.js';
import { refreshByTime } from './tow-refresh.js';

Object.assign(Idiomorph.defaults.callbacks, {
  beforeNodeMorphed: mayBeMorphed,
  beforeNodeRemoved: mayBeRemoved,
  beforeAttributeUpdated: isNoFold,
});
offerPositions();
previewPhotos();
refreshByTime();

/**
 * @param {unknown} old
 * @param {unknown} next
 */
function mayBeMorphed(old, next) {
  if (!isOffer(old) || !isOffer(next)) return true;
  return old.dataset['offer'] !== next.dataset['offer'] && !isKept(old);
}

/** @param {unknown} node */
function mayBeRemoved(node) {
  if (!(node instanceof HTMLElement)) return true;
  const offers = [node, ...node.querySelectorAll('[data-offer]')].filter(isOffer);
  return !offers.map(isKept).includes(true);
}

/**
 * @param {unknown} node
 * @returns {node is HTMLElement}
 */
function isOffer(node) {
  return node instanceof HTMLElement && node.dataset['offer'] !== undefined;
}

/**
 * True for one that is in use; it then says that the tow has changed.
 *
 * @param {HTMLElement} offer
 */
function isKept(offer) {
  if (!isInUse(offer)) return false;
  const stale = offer.querySelector('[data-stale]');
  if (stale instanceof HTMLElement) stale.hidden = false;
  return true;
}

/** @param {HTMLElement} offer */
function isInUse(offer) {
  const fields = [...offer.querySelectorAll('input, select, textarea')];
  return (
    offer.querySelector('details[open]:not([data-open]), .problem') !== null ||
    fields.some((field) => field === document.activeElement || isChanged(field))
  );
}

/** @param {Element} field */
function isChanged(field) {
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLInputElement) {
    return field.type === 'file' ? field.files?.length !== 0 : field.value !== field.defaultValue;
  }
  if (!(field instanceof HTMLSelectElement)) return false;
  const options = [...field.options];
  const first = Math.max(
    0,
    options.findIndex((option) => option.defaultSelected),
  );
  return field.selectedIndex !== first;
}
