// @ts-check
/**
 * Keeps the unsent entries of the forms of this tab in sessionStorage, so that another form of the page, a lost
 * connection, or a new language or theme does not lose them. They are removed when their form was accepted, at sign-out,
 * on the sign-in page, and in another session. Passwords, API keys, files and hidden fields are never kept, except the
 * idempotency key of a form that was sent and not answered: sent again after a reload, it takes effect once.
 */
import { isChanged } from './entries.js';

const STORE = 'entries';
const SECRET = /^key$|password|secret/i;
const UNKEPT_TYPES = ['password', 'file', 'hidden', 'submit', 'button', 'reset', 'image'];

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Field */

/** What is kept of the form that was sent last, also when an error page offers to send it again. @type {string[]} */
let sentNames = [];
/** The kept key of that form, if an earlier answer to it is missing. @type {string | null} */
let unansweredKey = null;

export function keepEntries() {
  const session = sessionOfPage();
  const isOfOther = session !== '' && session !== (read(STORE)['session'] ?? session);
  if (isOfOther || document.querySelector('[data-sign-in]')) dropEntries();
  // After the scripts of the page, which may replace fields.
  document.addEventListener('DOMContentLoaded', restoreEntries);
  document.addEventListener('input', ({ target }) => {
    if (isField(target) && target.form) saveEntries(target.form);
  });
}

/**
 * Keeps what is sent, with the key of the form, until `forgetEntries` or `forgetKey`. A form that was sent before and had
 * no answer is sent with the key of that time, unless it answers another question now.
 *
 * @param {HTMLFormElement} form
 */
export function keepSent(form) {
  const [fields, key, question] = [fieldsOf(form), hiddenField(form, 'form_key'), hiddenField(form, 'question')];
  // The form of an error page sends the hidden fields of another one again (error-pages.tsx).
  if (form.id === 'send-again') return;
  const keyName = keyNameOf(form);
  sentNames = [keyName, ...fields.map((field) => entryName(form, field))];
  const kept = keptKey(form);
  unansweredKey = kept;
  if (key === null || keyName === '') return;
  if (kept !== null) key.value = kept;
  const entries = keptEntries();
  entries[keyName] = `${key.value} ${question?.value ?? ''}`;
  // Also what the page has filled in: sent again, the form must be the same. A question is about the present record.
  if (question === null) for (const field of fields) entries[entryName(form, field)] = valueOf(field);
  store(entries);
}

/** Removes what is kept of the form that was sent last, because it was accepted. */
export function forgetEntries() {
  remove(sentNames);
}

/**
 * Removes the key of the form that was sent last, because it was refused. It stays while an earlier answer is missing,
 * unless this answer shows that the form was saved before.
 *
 * @param {Element} problem
 */
export function forgetKey(problem) {
  const wasSaved = problem.getAttribute('data-code') === 'idempotency_key_reused';
  if (unansweredKey === null || wasSaved) remove(sentNames.slice(0, 1));
}

export function dropEntries() {
  try {
    sessionStorage.removeItem(STORE);
  } catch {
    // The browser offers no storage.
  }
}

/**
 * Shows in a form what became of it: `body` has the texts.
 *
 * @param {HTMLFormElement} form
 * @param {string} what Shows nothing if it has no text.
 */
export function showOutcome(form, what) {
  form.querySelector('[data-outcome]')?.remove();
  const text = document.body.dataset[what];
  if (text === undefined) return;
  const notice = document.createElement('p');
  notice.className = 'error';
  notice.role = 'alert';
  notice.dataset['outcome'] = '';
  notice.textContent = text;
  form.append(notice);
}

/**
 * The key that a form was sent with, if it had no answer and answers the same question as then.
 *
 * @param {HTMLFormElement} form
 */
function keptKey(form) {
  const [key = '', question = ''] = (keptEntries()[keyNameOf(form)] ?? '').split(' ');
  return key !== '' && question === (hiddenField(form, 'question')?.value ?? '') ? key : null;
}

/**
 * The name of its kept key: that of its first field, because forms of a page may have the same address. Empty for a form
 * of buttons alone, which has no entries that could be sent twice.
 *
 * @param {HTMLFormElement} form
 */
function keyNameOf(form) {
  const first = [...form.elements].find((each) => isField(each) && (each.type === 'file' || isEntered(each)));
  return isField(first) ? `${entryName(form, first)} key` : '';
}

/**
 * @param {HTMLFormElement} form
 * @param {string} name
 */
function hiddenField(form, name) {
  const field = form.querySelector(`input[name="${name}"]`);
  return field instanceof HTMLInputElement ? field : null;
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

export function restoreEntries() {
  const entries = keptEntries();
  for (const form of document.forms) {
    if (keptKey(form) !== null) showOutcome(form, 'uncertain');
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
  return [...form.elements].filter(isField).filter(isEntered);
}

/** @param {Field} field */
function isEntered({ type, name }) {
  return !UNKEPT_TYPES.includes(type) && !SECRET.test(name);
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
