// @ts-check
/**
 * Tells a refresh of the page which attributes it may change: all, but what is folded out or in stays so.
 *
 * @param {unknown} name
 * @param {unknown} node
 */
export function isNoFold(name, node) {
  return !(name === 'open' && node instanceof HTMLDetailsElement);
}
