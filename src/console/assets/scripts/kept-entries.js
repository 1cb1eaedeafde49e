// @ts-check
/**
 * Keeps the unsent entries of the forms of this tab in sessionStorage, so that another form of the page, a lost
 * connection, or a new language or theme does not lose them. They are removed when their form was sent, at sign-out, on
 * the sign-in page, and in another session. Passwords, keys, files and hidden fields are never kept.
 */
import { isChanged, ROOT } from './entries.js';

const STORE = 'entries';
/** The form that was sent last. The next page shows whether it was accepted. */
const SENT = 'entries-sent';
const SECRET = /^key$|password|secret/i;
const UNKEPT_TYPES = ['password', 'file', 'hidden', 'submit', 'button', 'reset', 'image'];

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

export function keepEntries() {
  const session = sessionOfPage();
  const isOfOther = session !== '' && session !== (read(STORE)['session'] ?? session);
  if (isOfOther || document.querySelector('[data-sign-in]')) dropEntries();
  settleSentForm();
  // After the scripts of the page, which may replace fields.
  document.addEventListener('DOMContentLoaded', restoreEntries);
  document.addEventListener('input', ({ target }) => {
    if (isField(target) && target.form) saveEntries(target.form);
  });
}

/**
 * Remembers that a form is being sent. Its entries are removed if the next page shows that it was accepted.
 *
 * @param {HTMLFormElement} form
 */
export function markSent(form) {
  const pathname = pathOf(form);
  if (pathname.startsWith(`${ROOT}sign-out`)) return dropEntries();
  const fields = fieldsOf(form).map((field) => entryName(form, field));
  // The form of an error page sends hidden fields again (error-pages.tsx).
  if (form.id !== 'send-again') write(SENT, { pathname, fields });
}

/**
 * Removes the entries of a form that a script has sent.
 *
 * @param {HTMLFormElement} form
 */
export function forgetEntries(form) {
  remove(fieldsOf(form).map((field) => entryName(form, field)));
}

function dropEntries() {
  try {
    for (const name of [STORE, SENT]) sessionStorage.removeItem(name);
  } catch {
    // The browser offers no storage.
  }
}

/** Removes the entries of the form that this page is the answer to, unless the page is a refusal. */
function settleSentForm() {
  const { pathname, fields } = read(SENT);
  if (typeof pathname !== 'string' || document.querySelector('#send-again')) return;
  sessionStorage.removeItem(SENT);
  if (Array.isArray(fields) && wasAccepted(pathname)) remove(fields.map(String));
}

/**
 * An accepted form is answered with a redirect or with a page without a refusal. Going back to a page is no answer.
 *
 * @param {string} pathname
 */
function wasAccepted(pathname) {
  const [navigation] = performance.getEntriesByType('navigation');
  if (!(navigation instanceof PerformanceNavigationTiming) || navigation.type === 'back_forward') return false;
  const isAnswer = location.pathname === pathname && navigation.responseStatus < 400;
  return navigation.redirectCount > 0 || (isAnswer && !document.querySelector('.problem'));
}

/** @param {HTMLFormElement} form */
function saveEntries(form) {
  const entries = keptEntries();
  for (const field of fieldsOf(form)) {
    const name = entryName(form, field);
    const value = valueOf(field);
    // A refused form holds its entries as unchanged values.
    if (isChanged(field)) entries[name] = value;
    else if (entries[name] !== value) delete entries[name];
  }
  store(entries);
}

function restoreEntries() {
  const entries = keptEntries();
  for (const form of document.forms) {
    for (const field of fieldsOf(form)) {
      const value = entries[entryName(form, field)];
      if (value === undefined || value === valueOf(field) || !setValue(field, value)) continue;
      unfold(field);
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  }
}

/** @param {readonly string[]} names */
function remove(names) {
  const entries = keptEntries();
  for (const name of names) delete entries[name];
  store(entries);
}

/** @param {Readonly<Record<string, string>>} entries */
function store(entries) {
  // An error page does not know its session.
  write(STORE, { session: sessionOfPage() || read(STORE)['session'], entries });
}

/** @returns {Record<string, string>} */
function keptEntries() {
  const { entries } = read(STORE);
  return Object.fromEntries(Object.entries(entries ?? {}).map(([name, value]) => [name, String(value)]));
}

/** The form token, which is the same in all forms of a session; '' on a page without one. */
export function sessionOfPage() {
  const token = document.querySelector('form[action$="/sign-out"] input[name="form_token"]');
  return token instanceof HTMLInputElement ? token.value : '';
}

/**
 * The fields of a form whose entries are kept.
 *
 * @param {HTMLFormElement} form
 */
function fieldsOf(form) {
  if (form.method !== 'post') return [];
  return [...form.elements]
    .filter(isField)
    .filter(({ type, name }) => !UNKEPT_TYPES.includes(type) && !SECRET.test(name));
}

/**
 * @param {unknown} element
 * @returns {element is Field}
 */
function isField(element) {
  return (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  );
}

/**
 * The path that a form is sent to. A field named `action` hides the property of the form.
 *
 * @param {HTMLFormElement} form
 */
function pathOf(form) {
  return new URL(form.getAttribute('action') ?? '', location.href).pathname;
}

/**
 * The same on each page that shows the form.
 *
 * @param {HTMLFormElement} form
 * @param {Field} field
 */
function entryName(form, field) {
  return `${pathOf(form)} ${field.id || `${field.name}=${field.value}`}`;
}

/** @param {Field} field */
function valueOf(field) {
  return isBox(field) ? String(field.checked) : field.value;
}

/**
 * False for an option that is no longer offered.
 *
 * @param {Field} field
 * @param {string} value
 */
function setValue(field, value) {
  if (isBox(field)) field.checked = value === 'true';
  else if (field instanceof HTMLSelectElement && ![...field.options].some((option) => option.value === value))
    return false;
  else field.value = value;
  return true;
}

/**
 * @param {Field} field
 * @returns {field is HTMLInputElement}
 */
function isBox(field) {
  return field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio');
}

/**
 * Opens what hides a field, except a menu over the page. Leaves a fold closed if another one of its group is open: the
 * browser would close that one, and with it the message of a refused form.
 *
 * @param {Element} field
 */
function unfold(field) {
  for (let fold = field.closest('details'); fold; fold = fold.parentElement?.closest('details') ?? null) {
    if (!fold.classList.contains('menu') && !isGroupOpen(fold)) fold.open = true;
  }
}

/** @param {HTMLDetailsElement} fold */
function isGroupOpen({ name }) {
  return name !== '' && [...document.querySelectorAll('details')].some((other) => other.open && other.name === name);
}

/**
 * @param {string} name
 * @returns {Record<string, unknown>}
 */
function read(name) {
  try {
    /** @type {unknown} */
    const value = JSON.parse(sessionStorage.getItem(name) ?? '{}');
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // The browser offers no storage.
    return {};
  }
}

/**
 * @param {string} name
 * @param {object} value
 */
function write(name, value) {
  try {
    sessionStorage.setItem(name, JSON.stringify(value));
  } catch {
    // The storage is full or not offered. The page works without it.
  }
}
