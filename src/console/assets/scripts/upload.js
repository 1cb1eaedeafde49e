// @ts-check
/**
 * Sends a form with images in the background: shows the progress of the upload, allows stopping it, and keeps the images
 * after a refusal or the end of the session. Without scripts the browser sends the form itself.
 */
import { isSignIn } from './entries.js';
import { forgetEntries, forgetKey, keepSent, showOutcome } from './kept-entries.js';
import { outcomeOf } from './send-forms.js';
import { filled, gatherImages, imagesAreReady, imagesAreTooLarge, sizeOf } from './violation-images.js';

/** @type {XMLHttpRequest | null} */
let underWay = null;
let prepareForm = () => {};

/**
 * Sends the form of the page that has a `data-upload`.
 *
 * @param {() => void} [prepare] What else to do with a form that replaces a refused one.
 */
export function sendUploads(prepare = () => {}) {
  prepareForm = prepare;
  gatherImages();
  document.addEventListener('submit', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLFormElement) || !target.querySelector('[data-upload]')) return;
    event.preventDefault();
    void sendWhenReady(target);
  });
  document.addEventListener('click', ({ target }) => {
    if (target instanceof Element && target.closest('[data-upload-abort]')) underWay?.abort();
  });
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
  keepSent(form);
  showOutcome(form, '');
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
    forgetEntries();
    return location.assign(next);
  }
  if (isSignIn(request.responseURL)) return end('signedOut');
  // The console, or a proxy in front of it, has ended an upload that took too long.
  if (request.status === 408) return end('tooSlow');
  const answer = document.createElement('template');
  answer.innerHTML = request.responseText;
  const fresh = answer.content.querySelector(`#${form.id}`);
  const problem = answer.content.querySelector('.problem');
  const isOfConsole = request.getResponseHeader('HX-Refresh') !== null;
  if (problem === null) return end(isOfConsole ? 'refused' : outcomeOf(request.status));
  // After signing in again only the token of the new session is needed, not an empty form.
  if (request.status === 403 && renewToken(form, fresh)) return end('renewed');
  underWay = null;
  if (request.status < 500) forgetKey(problem);
  // Without its fields if it is not offered any more.
  if (fresh === null) form.replaceChildren();
  else form.replaceWith(fresh);
  const shown = fresh ?? form;
  if (!shown.contains(problem)) shown.prepend(problem);
  gatherImages();
  prepareForm();
  if (problem instanceof HTMLElement) problem.focus();
}

/**
 * Keeps the key of the form: it may have been saved before the session ended, without an answer. Keeps its question too,
 * so that a form whose question has changed is refused. False if the form is not offered any more.
 *
 * @param {HTMLFormElement} form
 * @param {Element | null} fresh
 */
function renewToken(form, fresh) {
  const [old, given] = [form, fresh].map((each) => each?.querySelector('input[name="form_token"]'));
  if (!(old instanceof HTMLInputElement && given instanceof HTMLInputElement)) return false;
  old.value = given.value;
  return true;
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
  const submit = document.querySelector('[data-upload]')?.closest('form')?.querySelector('button[type="submit"]');
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
  const bar = document.querySelector('[data-upload-bar] progress');
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
  return (part instanceof HTMLElement ? part.dataset[what] : null) ?? document.body.dataset[what] ?? '';
}
