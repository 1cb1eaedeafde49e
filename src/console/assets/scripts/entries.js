// @ts-check
/** Entries in the forms of a page that were not sent, and why a form cannot be sent now. */

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

/**
 * True without a network: sending a form would replace the page, and the chosen files, by an error page of the browser.
 * Then shows in the form that it was not sent.
 *
 * @param {HTMLFormElement} form
 */
export function isOffline(form) {
  form.querySelector('[data-offline]')?.remove();
  if (navigator.onLine) return false;
  const notice = document.createElement('p');
  notice.className = 'error';
  notice.role = 'alert';
  notice.dataset['offline'] = '';
  notice.textContent = document.body.dataset['notSent'] ?? '';
  form.append(notice);
  return true;
}
