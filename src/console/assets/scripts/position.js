// @ts-check
/**
 * Fills in the position of the device when its button is pressed, which is shown only where the browser supports it. Fills
 * in both fields when a pair of coordinates is pasted into one of them.
 */

/** As map apps copy it: `24.7136, 46.6753`. A single number with a decimal comma is no pair. */
const PAIR = /^\s*\(?\s*([+-]?\d{1,2}\.\d+)\s*[,;\u060c\s]\s*([+-]?\d{1,3}\.\d+)\s*\)?\s*$/;

export function enablePositionButtons() {
  showPositions();
  // A refresh renders the buttons hidden again.
  document.addEventListener('htmx:afterSwap', showPositions);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-locate]') : null;
    if (button instanceof HTMLButtonElement) locate(button);
  });
  document.addEventListener('paste', splitPair);
}

/** Shows the buttons, which the server renders hidden. */
export function showPositions() {
  if (!globalThis.isSecureContext || !('geolocation' in navigator)) return;
  for (const part of document.querySelectorAll('[data-locate-part][hidden]')) part.removeAttribute('hidden');
}

/** @param {ClipboardEvent} event */
function splitPair(event) {
  const { target, clipboardData } = event;
  if (!(target instanceof HTMLInputElement) || !['latitude', 'longitude'].includes(target.name) || !target.form) return;
  const [, latitude, longitude] = PAIR.exec(clipboardData?.getData('text') ?? '') ?? [];
  if (latitude === undefined || longitude === undefined) return;
  event.preventDefault();
  fill(target.form, 'latitude', latitude);
  fill(target.form, 'longitude', longitude);
}

/** @param {HTMLButtonElement} button */
function locate(button) {
  const fields = button.closest('[data-position]');
  const state = button.closest('[data-locate-part]')?.querySelector('[data-locate-state]');
  if (!fields || !state) return;
  const { asking = '', found = '', denied = '' } = button.dataset;
  /** @param {string} words */
  const end = (words) => {
    state.textContent = words;
    button.disabled = false;
  };
  button.disabled = true;
  state.textContent = asking;
  navigator.geolocation.getCurrentPosition(
    ({ coords }) => {
      // Six decimals are about 10 cm.
      fill(fields, 'latitude', coords.latitude.toFixed(6));
      fill(fields, 'longitude', coords.longitude.toFixed(6));
      end(found.replace('{meters}', String(Math.ceil(coords.accuracy))));
    },
    () => end(denied),
    { enableHighAccuracy: true, timeout: 15_000 },
  );
}

/**
 * @param {Element} fields
 * @param {string} name
 * @param {string} degrees
 */
function fill(fields, name, degrees) {
  const field = fields.querySelector(`[name="${name}"]`);
  if (!(field instanceof HTMLInputElement)) return;
  field.value = degrees;
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
