// @ts-check
/** Scales a photo down in the browser, so that photos of a phone reach the service over a slow line. */

/** Tried in this order until the photo is small enough. The first shows plates clearly in a photo of a whole vehicle. */
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
export async function scaledDown(file, mostBytes) {
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
