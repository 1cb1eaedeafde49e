// @ts-check
/**
 * Sends the violation form in the background: shows the progress of the upload, allows stopping it, and keeps the images
 * after a refusal. Without this script the browser sends the form itself.
 */
import { forgetEntries } from './kept-entries.js';
import { enablePositionButtons, showPositions } from './position.js';
import { filled, gatherImages, imagesAreReady, imagesAreTooLarge, sizeOf } from './violation-images.js';

/** Riyadh is UTC+3 all year. */
const OFFSET_MS = 3 * 3_600_000;
/** @type {XMLHttpRequest | null} */
let underWay = null;

prepare();
enablePositionButtons();
document.addEventListener('submit', (event) => {
  const { target } = event;
  if (!(target instanceof HTMLFormElement) || target.id !== 'report-form') return;
  event.preventDefault();
  void sendWhenReady(target);
});
document.addEventListener('click', ({ target }) => {
  if (target instanceof Element && target.closest('[data-upload-abort]')) underWay?.abort();
});

function prepare() {
  gatherImages();
  showCalendar();
  showPositions();
}

/** @param {HTMLFormElement} form */
async function sendWhenReady(form) {
  await imagesAreReady();
  if (underWay === null && form.isConnected && !imagesAreTooLarge()) send(form);
}

/** @param {HTMLFormElement} form */
function send(form) {
  const request = new XMLHttpRequest();
  underWay = request;
  const startedMs = performance.now();
  request.open('POST', form.action);
  // Ask for a part of the page, as htmx does.
  request.setRequestHeader('HX-Request', 'true');
  request.upload.addEventListener('progress', ({ loaded, total }) => showProgress(loaded, total));
  request.upload.addEventListener('load', () => {
    showBar('whole');
    say('sent');
    // The time limit of a request counts from its start.
    request.timeout = performance.now() - startedMs + Number(messageOf('answerMs'));
  });
  request.addEventListener('load', () => takeAnswer(request, form));
  request.addEventListener('error', () => end('failed'));
  request.addEventListener('abort', () => end('aborted'));
  request.addEventListener('timeout', () => end('uncertain'));
  showProgress(0, 0);
  showBar('partly');
  say('sending');
  request.send(new FormData(form));
}

/**
 * @param {XMLHttpRequest} request
 * @param {HTMLFormElement} form
 */
function takeAnswer(request, form) {
  const next = request.getResponseHeader('HX-Redirect');
  if (next !== null) {
    forgetEntries(form);
    return location.assign(next);
  }
  if (new URL(request.responseURL).pathname === '/sign-in') return end('signedOut');
  // The console, or a proxy in front of it, has ended an upload that took too long.
  if (request.status === 408) return end('tooSlow');
  const answer = document.createElement('template');
  answer.innerHTML = request.responseText;
  const fresh = answer.content.querySelector('#report');
  // A 4xx comes before the violation is saved. Of a 5xx the outcome is unknown.
  const isRefused = request.status >= 400 && request.status < 500;
  if (fresh === null) return end(isRefused ? 'refused' : 'uncertain');
  // After signing in again only the token of the new session is needed, not an empty form.
  if (request.status === 403) return renewToken(form, fresh);
  underWay = null;
  document.querySelector('#report')?.replaceWith(fresh);
  prepare();
  const problem = fresh.querySelector('[data-focus]');
  if (problem instanceof HTMLElement) problem.focus();
}

/**
 * Keeps the key of the form: the violation may have been saved before the session ended, without an answer.
 *
 * @param {HTMLFormElement} form
 * @param {Element} fresh
 */
function renewToken(form, fresh) {
  const [old, given] = [form, fresh].map((each) => each.querySelector('input[name="form_token"]'));
  if (old instanceof HTMLInputElement && given instanceof HTMLInputElement) old.value = given.value;
  end('renewed');
}

/**
 * Ends the upload and keeps the form.
 *
 * @param {string} what
 */
function end(what) {
  underWay = null;
  showBar('none');
  say(what);
  const notice = document.querySelector('[data-upload-notice]');
  if (notice instanceof HTMLElement) notice.focus();
}

/** @param {'none' | 'partly' | 'whole'} sent */
function showBar(sent) {
  const bar = document.querySelector('[data-upload-bar]');
  const abort = document.querySelector('[data-upload-abort]');
  const submit = document.querySelector('#report-form button[type="submit"]');
  if (bar instanceof HTMLElement) bar.hidden = sent === 'none';
  // A complete upload cannot be stopped.
  if (abort instanceof HTMLButtonElement) abort.hidden = sent !== 'partly';
  if (submit instanceof HTMLButtonElement) submit.disabled = sent !== 'none';
  if (abort instanceof HTMLButtonElement && sent === 'partly') abort.focus();
}

/**
 * @param {number} sent
 * @param {number} total
 */
function showProgress(sent, total) {
  const percent = total === 0 ? 0 : Math.floor((sent / total) * 100);
  const bar = document.querySelector('#report-progress');
  if (bar instanceof HTMLProgressElement) bar.value = percent;
  const text = document.querySelector('[data-upload-progress]');
  const parts = { percent: String(percent), sent: sizeOf(sent), total: sizeOf(total) };
  if (text) text.textContent = filled(messageOf('progress'), parts);
}

/** @param {string} what */
function say(what) {
  const notice = document.querySelector('[data-upload-notice]');
  if (notice) notice.textContent = messageOf(what);
}

/** @param {string} what */
function messageOf(what) {
  const part = document.querySelector('[data-upload]');
  return part instanceof HTMLElement ? (part.dataset[what] ?? '') : '';
}

/** Replaces the text field of the date by a calendar in Riyadh time. The sent value keeps its offset. */
function showCalendar() {
  const field = document.querySelector('#report-form input[name="date"]');
  if (!(field instanceof HTMLInputElement)) return;
  const ms = field.value === '' ? null : Date.parse(field.value);
  // Keep a value that is no timestamp as entered.
  if (ms !== null && Number.isNaN(ms)) return;
  const sent = document.createElement('input');
  sent.type = 'hidden';
  sent.name = field.name;
  sent.value = field.value;
  field.after(sent);
  field.removeAttribute('name');
  // A calendar rejects a value with an offset.
  field.value = '';
  field.type = 'datetime-local';
  field.value = ms === null ? '' : new Date(ms + OFFSET_MS).toISOString().slice(0, 16);
  // Not a change by the user (entries.js).
  field.defaultValue = field.value;
  field.addEventListener('input', () => {
    const { value } = field;
    sent.value = value === '' ? '' : `${value.length === 16 ? `${value}:00` : value}+03:00`;
  });
}
