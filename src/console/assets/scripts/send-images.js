// @ts-check
/** Forms whose photos are scaled down before the browser sends them: those of a tow, and other images of a violation. */
import { isOffline } from './entries.js';
import { markSent } from './kept-entries.js';
import { gatherImages, imagesAreReady, imagesAreTooLarge } from './violation-images.js';

gatherImages();
// A refresh of the page may have replaced the form.
document.addEventListener('htmx:afterSettle', gatherImages);
document.addEventListener('submit', (event) => {
  const { target } = event;
  if (!(target instanceof HTMLFormElement) || !target.querySelector('[data-images]')) return;
  event.preventDefault();
  void sendWhenReady(target);
});

/** @param {HTMLFormElement} form */
async function sendWhenReady(form) {
  await imagesAreReady();
  if (!form.isConnected || imagesAreTooLarge() || isOffline(form)) return;
  markSent(form);
  form.submit();
}
