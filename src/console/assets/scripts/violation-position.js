// @ts-check
/** Fills in where the device is, for whoever stands beside the vehicle; only where the browser can tell, and on a press. */
export function offerPosition() {
  const part = document.querySelector('[data-locate-part]');
  if (!(part instanceof HTMLElement) || !globalThis.isSecureContext || !('geolocation' in navigator)) return;
  part.hidden = false;
  const button = part.querySelector('[data-locate]');
  const state = part.querySelector('[data-locate-state]');
  const fields = part.closest('[data-position]');
  if (!(button instanceof HTMLButtonElement) || !state || !fields) return;
  const { asking = '', found = '', denied = '' } = button.dataset;
  button.addEventListener('click', () => {
    button.disabled = true;
    state.textContent = asking;
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        fill(fields, 'latitude', coords.latitude);
        fill(fields, 'longitude', coords.longitude);
        state.textContent = found.replace('{meters}', String(Math.ceil(coords.accuracy)));
        button.disabled = false;
      },
      () => {
        state.textContent = denied;
        button.disabled = false;
      },
      { enableHighAccuracy: true, timeout: 15_000 },
    );
  });
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
