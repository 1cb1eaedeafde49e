// @ts-check
/** Fills in where the device is, for whoever stands beside the vehicle; only where the browser can tell, and on a press. */
export function offerPositions() {
  showPositions();
  // A refresh of the page brings what offers it as it came: hidden.
  document.addEventListener('htmx:afterSwap', showPositions);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-locate]') : null;
    if (button instanceof HTMLButtonElement) locate(button);
  });
}

/** Shows what came hidden, in a page of which a part was replaced. */
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
  // Six digits are a hand's breadth.
  if (field instanceof HTMLInputElement) field.value = degrees.toFixed(6);
}
