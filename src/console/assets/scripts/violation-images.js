// @ts-check
/**
 * The images of a violation before they are sent: gathered from several choices and photos, shown, taken away again, and
 * added up, so that nobody sends in vain.
 */

/** @type {File[]} */
let chosen = [];

/** Takes over the fields for files of the form, with the images that were chosen before it came anew. */
export function gatherImages() {
  const { field, camera } = partsOf();
  if (!field) return;
  // A browser that goes back to the page may remember what was chosen.
  if (chosen.length === 0) chosen = [...(field.files ?? [])];
  for (const each of [field, camera]) {
    each?.addEventListener('change', () => {
      chosen = [...chosen, ...[...(each.files ?? [])].filter((file) => !chosen.some((known) => isSame(known, file)))];
      show();
    });
  }
  show();
}

/** True when the images together are more than is taken; the reason is shown then, and has the focus. */
export function imagesAreTooLarge() {
  const { problem, mostBytes } = partsOf();
  if (total() <= mostBytes) return false;
  problem?.focus();
  return true;
}

/**
 * A size as the server writes it.
 *
 * @param {number} bytes
 */
export function sizeOf(bytes) {
  const round = (/** @type {number} */ count) => String(Math.round(count * 10) / 10);
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${round(bytes / 1024)} KiB` : `${round(bytes / 1_048_576)} MiB`;
}

/**
 * Words with what is named in braces filled in, each kept together in a line of either direction.
 *
 * @param {string} words
 * @param {Readonly<Record<string, string>>} parts
 */
export function filled(words, parts) {
  return words.replaceAll(/\{(\w+)\}/g, (_all, /** @type {string} */ name) => `\u2068${parts[name] ?? ''}\u2069`);
}

function show() {
  const { field, camera, previews, sum, problem, lost, mostBytes } = partsOf();
  if (!field || !previews) return;
  const transfer = new DataTransfer();
  for (const file of chosen) transfer.items.add(file);
  field.files = transfer.files;
  if (camera) camera.value = '';
  for (const image of previews.querySelectorAll('img')) URL.revokeObjectURL(image.src);
  previews.replaceChildren(...chosen.map((file) => previewOf(file, previews.dataset['remove'] ?? '')));
  previews.hidden = chosen.length === 0;
  const parts = { count: String(chosen.length), size: sizeOf(total()), most: sizeOf(mostBytes) };
  if (sum) sum.textContent = chosen.length === 0 ? '' : filled(sum.dataset['imagesTotal'] ?? '', parts);
  if (problem) problem.textContent = total() > mostBytes ? filled(problem.dataset['imagesProblem'] ?? '', parts) : '';
  if (lost) lost.hidden = chosen.length > 0;
}

/**
 * @param {File} file
 * @param {string} removeWords
 */
function previewOf(file, removeWords) {
  const item = document.createElement('li');
  const image = document.createElement('img');
  image.alt = '';
  image.src = URL.createObjectURL(file);
  // What this browser cannot show is sent all the same.
  image.addEventListener('error', () => image.remove());
  const words = document.createElement('span');
  words.className = 'photo-words';
  words.dir = 'auto';
  words.textContent = `${file.name} · ${sizeOf(file.size)}`;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = removeWords;
  button.setAttribute('aria-label', `${removeWords}: ${file.name}`);
  button.addEventListener('click', () => {
    chosen = chosen.filter((each) => each !== file);
    show();
    partsOf().field?.focus();
  });
  item.append(image, words, button);
  return item;
}

function total() {
  return chosen.reduce((sum, { size }) => sum + size, 0);
}

/**
 * @param {File} first
 * @param {File} second
 */
function isSame(first, second) {
  return first.name === second.name && first.size === second.size && first.lastModified === second.lastModified;
}

function partsOf() {
  const part = document.querySelector('[data-images]');
  /** @type {(selector: string) => HTMLElement | null} */
  const find = (selector) => {
    const found = part?.querySelector(selector) ?? null;
    return found instanceof HTMLElement ? found : null;
  };
  const [field, camera] = [find('input[type="file"]:not([data-camera])'), find('input[data-camera]')];
  return {
    field: field instanceof HTMLInputElement ? field : null,
    camera: camera instanceof HTMLInputElement ? camera : null,
    previews: find('[data-previews]'),
    sum: find('[data-images-total]'),
    problem: find('[data-images-problem]'),
    lost: find('[data-files-lost]'),
    mostBytes: Number(part?.getAttribute('data-images') ?? 0),
  };
}
