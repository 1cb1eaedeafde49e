// @ts-check
/** Entries in the forms of a page that were not sent. */

/** The path of the console, above `/assets/<version>/`. */
export const ROOT = new URL('../..', import.meta.url).pathname;

/**
 * True for the address of the sign-in page.
 *
 * @param {string} address
 */
export function isSignIn(address) {
  return URL.canParse(address) && new URL(address).pathname === `${ROOT}sign-in`;
}

/** True if a form has changed fields, or was refused: its fields then hold what was entered before. */
export function hasUnsentEntries() {
  const fields = [...document.forms].flatMap((form) => [...form.elements]);
  return fields.some(isChanged) || document.querySelector('.problem') !== null;
}

/**
 * True for a field that the user changed since the page was loaded.
 *
 * @param {Element} field
 */
export function isChanged(field) {
  if (field instanceof HTMLTextAreaElement) return field.value !== field.defaultValue;
  if (field instanceof HTMLInputElement) return isInputChanged(field);
  if (!(field instanceof HTMLSelectElement)) return false;
  const options = [...field.options];
  const first = Math.max(
    0,
    options.findIndex((option) => option.defaultSelected),
  );
  return field.selectedIndex !== first;
}

/** @param {HTMLInputElement} field */
function isInputChanged(field) {
  switch (field.type) {
    case 'file':
      return field.files?.length !== 0;
    case 'checkbox':
    case 'radio':
      return field.checked !== field.defaultChecked;
    default:
      return field.value !== field.defaultValue;
  }
}
