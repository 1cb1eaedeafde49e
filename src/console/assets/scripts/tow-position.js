// @ts-check
/** Fills in where the device is, for whoever stands beside the vehicle; only where the browser can tell, and on a press. */
export function offerPositions() {
  if (!globalThis.isSecureContext || !('geolocation' in navigator)) return;
  showButtons();
  // A refresh of the page brings the buttons as they came: hidden.
  document.addEventListener('htmx:afterSwap', showButtons);
  document.addEventListener('click', (event) => {
    const button = event.target instanceof Element ? event.target.closest('[data-locate]') : null;
    const fields = button?.closest('[data-position]');
    if (!(button instanceof HTMLButtonElement) || !fields) return;
    button.disabled = true;
    navigator.geolocation.getCurrentPosition(
      ({ coords }) => {
        fill(fields, 'latitude', coords.latitude);
        fill(fields, 'longitude', coords.longitude);
        button.disabled = false;
      },
      () => {
        // Not allowed or not known: the fields are there.
        button.disabled = false;
      },
      { enableHighAccuracy: true, timeout: 15_000 },
    );
  });
}

function showButtons() {
  for (const button of document.querySelectorAll('[data-locate][hidden]')) button.removeAttribute('hidden');
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
