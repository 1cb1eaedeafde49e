// @ts-check
/** Forms with images on a page that is refreshed: the photos of a tow, and other images of a violation. */
import { sendUploads } from './upload.js';
import { gatherImages } from './violation-images.js';

sendUploads();
// A refresh of the page may have replaced the form.
document.addEventListener('htmx:afterSettle', gatherImages);
