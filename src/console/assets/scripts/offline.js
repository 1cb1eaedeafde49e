// @ts-check
/**
 * True without a network: sending a form would replace the page, and the chosen files, by an error page of the browser.
 * Then shows in the form that it was not sent.
 *
 * @param {HTMLFormElement} form
 */
export function isOffline(form) {
  form.querySelector('[data-offline]')?.remove();
  if (navigator.onLine) return false;
  const notice = document.createElement('p');
  notice.className = 'error';
  notice.role = 'alert';
  notice.dataset['offline'] = '';
  notice.textContent = document.body.dataset['notSent'] ?? '';
  form.append(notice);
  return true;
}
