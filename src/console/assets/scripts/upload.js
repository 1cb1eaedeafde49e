// @ts-check
/**
 * Sends the form of a violation in the background, so that one sees how far its images have got and can stop them; a
 * refusal comes back into the page without the images being lost. Without this script the browser sends the form itself.
 */
import { offerPositions, showPositions } from './position.js';
import { filled, gatherImages, imagesAreTooLarge, sizeOf } from './violation-images.js';
import { showCalendar } from './violation-moment.js';

/** @type {XMLHttpRequest | null} */
let underWay = null;

prepare();
offerPositions();
document.addEventListener('submit', (event) => {
  const { target } = event;
  if (!(target instanceof HTMLFormElement) || target.id !== 'report-form') return;
  event.preventDefault();
  if (underWay === null && !imagesAreTooLarge()) send(target);
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
function send(form) {
  const request = new XMLHttpRequest();
  underWay = request;
  request.open('POST', form.action);
  // A part of the page is asked for, as htmx does.
  request.setRequestHeader('HX-Request', 'true');
  request.upload.addEventListener('progress', ({ loaded, total }) => showProgress(loaded, total));
  request.upload.addEventListener('load', () => {
    showBar('whole');
    say('sent');
  });
  request.addEventListener('load', () => takeAnswer(request, form));
  request.addEventListener('error', () => end('failed'));
  request.addEventListener('abort', () => end('aborted'));
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
  if (next !== null) return location.assign(next);
  if (new URL(request.responseURL).pathname === '/sign-in') return end('signedOut');
  const answer = document.createElement('template');
  answer.innerHTML = request.responseText;
  const fresh = answer.content.querySelector('#report');
  if (fresh === null) return end('uncertain');
  // Signed in anew, one needs the token of the new session, and not an empty form.
  if (request.status === 403) return renew(form, fresh);
  underWay = null;
  document.querySelector('#report')?.replaceWith(fresh);
  prepare();
  const problem = fresh.querySelector('[data-focus]');
  if (problem instanceof HTMLElement) problem.focus();
}

/**
 * @param {HTMLFormElement} form
 * @param {Element} fresh
 */
function renew(form, fresh) {
  for (const name of ['form_token', 'form_key']) {
    const [old, given] = [form, fresh].map((each) => each.querySelector(`input[name="${name}"]`));
    if (old instanceof HTMLInputElement && given instanceof HTMLInputElement) old.value = given.value;
  }
  end('renewed');
}

/**
 * Nothing is under way any more, and the form is as it was.
 *
 * @param {string} what
 */
function end(what) {
  underWay = null;
  showBar('none');
  say(what);
  const said = document.querySelector('[data-upload-said]');
  if (said instanceof HTMLElement) said.focus();
}

/** @param {'none' | 'partly' | 'whole'} sent */
function showBar(sent) {
  const bar = document.querySelector('[data-upload-bar]');
  const abort = document.querySelector('[data-upload-abort]');
  const submit = document.querySelector('#report-form button[type="submit"]');
  if (bar instanceof HTMLElement) bar.hidden = sent === 'none';
  // What has arrived as a whole cannot be called back.
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
  const words = document.querySelector('[data-upload-words]');
  const parts = { percent: String(percent), sent: sizeOf(sent), total: sizeOf(total) };
  if (words) words.textContent = filled(wordsOf('progress'), parts);
}

/** @param {string} what */
function say(what) {
  const said = document.querySelector('[data-upload-said]');
  if (said) said.textContent = wordsOf(what);
}

/** @param {string} what */
function wordsOf(what) {
  const part = document.querySelector('[data-upload]');
  return part instanceof HTMLElement ? (part.dataset[what] ?? '') : '';
}
