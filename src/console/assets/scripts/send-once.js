// @ts-check
/**
 * A form that is on its way is not sent a second time by a second click: the browser would drop the first answer, and with
 * it what is shown once alone, such as a new key. What is entered anew is sent, and so is a form whose answer does not come.
 */

const PATIENCE_MS = 10_000;

export function sendFormsOnce() {
  /** @type {Map<HTMLFormElement, number>} */
  let sentMs = new Map();
  // After all others have heard of it: what a script sends itself is not on its way.
  globalThis.addEventListener('submit', (event) => {
    const { target: form } = event;
    if (!(form instanceof HTMLFormElement) || form.method !== 'post' || event.defaultPrevented) return;
    const before = sentMs.get(form);
    if (before !== undefined && performance.now() - before < PATIENCE_MS) event.preventDefault();
    else sentMs.set(form, performance.now());
  });
  document.addEventListener('input', ({ target }) => {
    const form = target instanceof Element ? target.closest('form') : null;
    if (form) sentMs.delete(form);
  });
  // A page that is gone back to stands as it was left.
  globalThis.addEventListener('pageshow', () => {
    sentMs = new Map();
  });
}
