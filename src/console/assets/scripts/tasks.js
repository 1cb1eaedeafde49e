// @ts-check
/**
 * Selecting tasks: shows the count on the bar, and selects all tasks of the page with one checkbox. A task that was closed
 * elsewhere cannot be selected.
 */

// Looked up each time: the answer to a form may have replaced them.
const barOf = () => document.querySelector('#bulk-bar');
const chooseAllOf = () => document.querySelector('[data-choose-all]');
const allBoxOf = () => chooseAllOf()?.querySelector('input') ?? null;

const boxes = () =>
  [...document.querySelectorAll('input[name=chosen]')]
    .filter((box) => box instanceof HTMLInputElement)
    .filter(({ disabled }) => !disabled);

/** A refresh marks the rows whose tasks were closed. A disabled checkbox keeps its tick, in case its task opens again. */
function disableGone() {
  for (const mark of document.querySelectorAll('[data-now]')) {
    const box = mark.parentElement?.querySelector('input[name=chosen]');
    if (box instanceof HTMLInputElement) box.disabled = mark.getAttribute('data-now') === 'gone';
  }
  count();
}

function count() {
  const [bar, chooseAll, allBox] = [barOf(), chooseAllOf(), allBoxOf()];
  if (chooseAll instanceof HTMLElement) chooseAll.hidden = false;
  const all = boxes();
  const ticked = all.filter(({ checked }) => checked).length;
  const shown = bar?.querySelector('[data-chosen-count]');
  if (shown instanceof HTMLElement) {
    shown.hidden = ticked === 0;
    shown.textContent = (bar?.getAttribute('data-chosen-text') ?? '').replace('#', String(ticked));
  }
  bar?.classList.toggle('chosen', ticked > 0);
  if (!allBox) return;
  allBox.checked = ticked > 0 && ticked === all.length;
  allBox.indeterminate = ticked > 0 && ticked < all.length;
}

document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  const allBox = allBoxOf();
  if (event.target === allBox) for (const box of boxes()) box.checked = allBox.checked;
  if (event.target !== allBox && event.target.name !== 'chosen') return;
  // Ticking a row chooses the scope "ticked".
  const ticked = document.querySelector('input[name=scope][value=ticked]');
  if (ticked instanceof HTMLInputElement) ticked.checked = true;
  count();
});

// For browsers that do not open a closed `details` for a link into it, and to focus the bar.
document.addEventListener('click', (event) => {
  if (!(event.target instanceof Element) || event.target.closest('[data-open-bulk]') === null) return;
  const bar = barOf();
  const summary = bar?.querySelector('summary');
  if (!(bar instanceof HTMLDetailsElement) || !summary) return;
  event.preventDefault();
  bar.open = true;
  summary.focus();
  bar.scrollIntoView({ block: 'nearest' });
});

// The browser may restore ticked boxes after a reload.
count();
globalThis.addEventListener('pageshow', count);
document.addEventListener('htmx:afterSettle', disableGone);
