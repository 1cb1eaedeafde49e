// @ts-check
/**
 * The images of a form before the upload: collected from several selections, previewed, removed, and totalled. When
 * all together exceed the limit, those larger than their share of it are scaled down.
 */

/** How a photo is scaled down, tried in this order until it is small enough. The first shows plates clearly in a photo of a whole vehicle. */
const STEPS = [
  { side: 2048, quality: 0.8 },
  { side: 1600, quality: 0.8 },
  { side: 1600, quality: 0.6 },
  { side: 1280, quality: 0.6 },
  { side: 1024, quality: 0.5 },
  { side: 800, quality: 0.4 },
];

/**
 * The photo as a JPEG of at most this many bytes, or as near as the last step comes; upright, without its metadata. Null
 * when this browser cannot decode it, or when it would not become smaller.
 *
 * @param {File} file
 * @param {number} mostBytes
 * @returns {Promise<File | null>}
 */
async function scaledDown(file, mostBytes) {
  const picture = await createImageBitmap(file, { imageOrientation: 'from-image' }).catch(() => null);
  if (picture === null) return null;
  try {
    let smallest = null;
    for (const step of STEPS) {
      smallest = (await drawn(picture, step)) ?? smallest;
      if (smallest !== null && smallest.size <= mostBytes) break;
    }
    if (smallest === null || smallest.size >= file.size) return null;
    const name = `${file.name.replace(/\.[^.]*$/, '')}.jpg`;
    return new File([smallest], name, { type: 'image/jpeg', lastModified: file.lastModified });
  } finally {
    picture.close();
  }
}

/**
 * @param {ImageBitmap} picture
 * @param {{ readonly side: number, readonly quality: number }} step
 * @returns {Promise<Blob | null>}
 */
async function drawn(picture, { side, quality }) {
  const scale = Math.min(1, side / Math.max(picture.width, picture.height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(picture.width * scale));
  canvas.height = Math.max(1, Math.round(picture.height * scale));
  const context = canvas.getContext('2d');
  if (context === null) return null;
  // JPEG has no transparency.
  context.fillStyle = 'white';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => canvas.toBlob(resolve, 'image/jpeg', quality));
}

/** Three photos of this size take 20 s on a line of 1 Mbit/s. */
const SCALED_BYTES_MAX = 800_000;

/**
 * As they were chosen.
 *
 * @type {File[]}
 */
let chosen = [];
/**
 * What is sent in place of a chosen photo that was scaled down to `mostBytes`; null when that failed.
 *
 * @type {WeakMap<File, { readonly file: File | null, readonly mostBytes: number }>}
 */
const scaled = new WeakMap();
let scaling = Promise.resolve();
/** Inputs that are listened to. */
const bound = new WeakSet();

/** Binds the file inputs of the form, and restores the images chosen before the form was replaced. */
export function gatherImages() {
  const { field, camera } = partsOf();
  if (!field) return;
  // The browser may restore the selection when going back to the page.
  if (chosen.length === 0) chosen = [...(field.files ?? [])];
  for (const each of [field, camera]) {
    if (each === null || bound.has(each)) continue;
    bound.add(each);
    each.addEventListener('change', () => {
      chosen = [...chosen, ...[...(each.files ?? [])].filter((file) => !chosen.some((known) => isSame(known, file)))];
      show();
      scaleDown();
    });
  }
  show();
  scaleDown();
}

/** Resolves when no photo is being scaled down any more. */
export function imagesAreReady() {
  return scaling;
}

/** True when the images exceed the limit. Moves the focus to the reason. */
export function imagesAreTooLarge() {
  const { problem, mostBytes } = partsOf();
  if (total() <= mostBytes) return false;
  problem?.focus();
  return true;
}

/**
 * A size in the format of the server.
 *
 * @param {number} bytes
 */
export function sizeOf(bytes) {
  const round = (/** @type {number} */ count) => String(Math.round(count * 10) / 10);
  if (bytes < 1024) return `${bytes} B`;
  return bytes < 1_048_576 ? `${round(bytes / 1024)} KiB` : `${round(bytes / 1_048_576)} MiB`;
}

/**
 * Fills in `{name}` placeholders. Each value is isolated from the direction of the text around it.
 *
 * @param {string} words
 * @param {Readonly<Record<string, string>>} parts
 */
export function filled(words, parts) {
  return words.replaceAll(/\{(\w+)\}/g, (_all, /** @type {string} */ name) => `\u2068${parts[name] ?? ''}\u2069`);
}

function scaleDown() {
  scaling = scaling.then(scaleLargest).finally(() => {
    show();
    say('');
  });
}

async function scaleLargest() {
  const { mostBytes, scales } = partsOf();
  if (!scales || total() <= mostBytes) return;
  const shareBytes = Math.floor(mostBytes / chosen.length);
  const targetBytes = Math.min(shareBytes, SCALED_BYTES_MAX);
  const isLarge = (/** @type {File} */ file) =>
    sentFor(file).size > shareBytes && (scaled.get(file)?.mostBytes ?? Infinity) > targetBytes;
  const large = chosen.filter(isLarge);
  for (const [at, file] of large.entries()) {
    say('imagesScaling', { done: String(at + 1), count: String(large.length) });
    scaled.set(file, { file: await scaledDown(file, targetBytes), mostBytes: targetBytes });
  }
}

/**
 * @param {string} what
 * @param {Readonly<Record<string, string>>} [parts]
 */
function say(what, parts = {}) {
  const { status } = partsOf();
  if (status) status.textContent = filled(status.dataset[what] ?? '', parts);
}

/**
 * The file that is sent for a chosen one.
 *
 * @param {File} file
 */
function sentFor(file) {
  return scaled.get(file)?.file ?? file;
}

function show() {
  const { field, camera, previews, sum, problem, lost, mostBytes } = partsOf();
  if (!field || !previews) return;
  const transfer = new DataTransfer();
  for (const file of chosen) transfer.items.add(sentFor(file));
  field.files = transfer.files;
  if (camera) camera.value = '';
  for (const image of previews.querySelectorAll('img')) URL.revokeObjectURL(image.src);
  previews.replaceChildren(...chosen.map((file) => previewOf(file, previews.dataset)));
  previews.hidden = chosen.length === 0;
  const parts = { count: String(chosen.length), size: sizeOf(total()), most: sizeOf(mostBytes) };
  if (sum) sum.textContent = chosen.length === 0 ? '' : filled(sum.dataset['imagesTotal'] ?? '', parts);
  if (problem) problem.textContent = total() > mostBytes ? filled(problem.dataset['imagesProblem'] ?? '', parts) : '';
  if (lost) lost.hidden = chosen.length > 0;
}

/**
 * @param {File} file
 * @param {DOMStringMap} messages
 */
function previewOf(file, messages) {
  const removeText = messages['remove'] ?? '';
  const sent = sentFor(file);
  const item = document.createElement('li');
  const image = document.createElement('img');
  image.alt = '';
  image.src = URL.createObjectURL(sent);
  // An image that this browser cannot show is still sent.
  image.addEventListener('error', () => image.remove());
  const words = document.createElement('span');
  words.className = 'photo-words';
  words.dir = 'auto';
  const scaledText = sent === file ? '' : ` · ${filled(messages['scaled'] ?? '', { size: sizeOf(file.size) })}`;
  words.textContent = `${file.name} · ${sizeOf(sent.size)}${scaledText}`;
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = removeText;
  button.setAttribute('aria-label', `${removeText}: ${file.name}`);
  button.addEventListener('click', () => {
    chosen = chosen.filter((each) => each !== file);
    show();
    partsOf().field?.focus();
  });
  item.append(image, words, button);
  return item;
}

function total() {
  return chosen.reduce((sum, file) => sum + sentFor(file).size, 0);
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
    status: find('[data-images-scaling]'),
    /** Not where originals are kept. */
    scales: part?.hasAttribute('data-images-scale') === true,
    mostBytes: Number(part?.getAttribute('data-images') ?? 0),
  };
}
