// @ts-check
/** Ticking many tasks: how many are ticked stands on the bar, and all of a page are ticked by one box. */

const bar = document.querySelector('#bulk-bar');
const chooseAll = document.querySelector('[data-choose-all]');
const allBox = chooseAll?.querySelector('input') ?? null;

/** Of rows that were decided elsewhere meanwhile the boxes stay as they are: the preview tells what can be done. */
const boxes = () =>
  [...document.querySelectorAll('input[name=chosen]')].filter((box) => box instanceof HTMLInputElement);

function count() {
  const all = boxes();
  const ticked = all.filter(({ checked }) => checked).length;
  const shown = bar?.querySelector('[data-chosen-count]');
  if (shown instanceof HTMLElement) {
    shown.hidden = ticked === 0;
    shown.textContent = (bar?.getAttribute('data-chosen-words') ?? '').replace('#', String(ticked));
  }
  bar?.classList.toggle('chosen', ticked > 0);
  if (!allBox) return;
  allBox.checked = ticked > 0 && ticked === all.length;
  allBox.indeterminate = ticked > 0 && ticked < all.length;
}

document.addEventListener('change', (event) => {
  if (!(event.target instanceof HTMLInputElement)) return;
  if (event.target === allBox) for (const box of boxes()) box.checked = allBox.checked;
  if (event.target !== allBox && event.target.name !== 'chosen') return;
  // Whoever ticks means those that are ticked.
  const ticked = document.querySelector('input[name=scope][value=ticked]');
  if (ticked instanceof HTMLInputElement) ticked.checked = true;
  count();
});

// Without a script the link loads the page with the bar folded out.
document.querySelector('[data-open-bulk]')?.addEventListener('click', (event) => {
  const summary = bar?.querySelector('summary');
  if (!(bar instanceof HTMLDetailsElement) || !summary) return;
  event.preventDefault();
  bar.open = true;
  summary.focus();
  bar.scrollIntoView({ block: 'nearest' });
});

if (chooseAll instanceof HTMLElement) chooseAll.hidden = false;
// A browser may tick again what was ticked before a page was loaded anew.
count();
globalThis.addEventListener('pageshow', count);
