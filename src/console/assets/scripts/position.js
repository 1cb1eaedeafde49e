// @ts-check
/** Fills in the position of the device when its button is pressed. Shown only where the browser supports it. */
export function enablePositionButtons() {
  showPositions();
  // A refresh renders the buttons hidden again.
  document.addEventListener('htmx:afterSwap', showPositions);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-locate]') : null;
    if (button instanceof HTMLButtonElement) locate(button);
  });
}

/** Shows the buttons, which the server renders hidden. */
export function showPositions() {
  if (!globalThis.isSecureContext || !('geolocation' in navigator)) return;
  for (const part of document.querySelectorAll('[data-locate-part][hidden]')) part.removeAttribute('hidden');
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
      fill(fields, 'latitude', coords.latitude);
      fill(fields, 'longitude', coords.longitude);
      end(found.replace('{meters}', String(Math.ceil(coords.accuracy))));
    },
    () => end(denied),
    { enableHighAccuracy: true, timeout: 15_000 },
  );
}

/**
 * @param {Element} fields
 * @param {string} name
 * @param {number} degrees
 */
function fill(fields, name, degrees) {
  const field = fields.querySelector(`[name="${name}"]`);
  // Six decimals are about 10 cm.
  if (!(field instanceof HTMLInputElement)) return;
  field.value = degrees.toFixed(6);
  field.dispatchEvent(new Event('input', { bubbles: true }));
}
