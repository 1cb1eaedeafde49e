import type { FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Detects images that were cut off in transit, which their header does not show; JPEGs in `jpeg.ts`. Bytes after the end
 * of an image are ignored. A file is read at most once, block by block.
 */

export const BLOCK_BYTES = 65_536;

const SIGNATURE_BYTES = 8;
/** Length, name and checksum of a PNG chunk. */
const CHUNK_BYTES = 12;
/** The names `IDAT` and `IEND` of chunks, as numbers. */
const IMAGE_DATA = 0x49444154;
const IMAGE_END = 0x49454e44;

/** The bytes of an image: a file, or in memory. */
export type StoredBytes = FileHandle | Uint8Array;

/** True when a PNG has image data followed by the chunk that ends it. */
export async function isPngWhole(file: StoredBytes, sizeBytes: number): Promise<boolean> {
  let hasPicture = false;
  let at = SIGNATURE_BYTES;
  while (at + CHUNK_BYTES <= sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (block.length < CHUNK_BYTES) return false;
    const numbers = new DataView(block.buffer, block.byteOffset, block.length);
    let from = 0;
    while (from + 8 <= block.length && at + from + CHUNK_BYTES <= sizeBytes) {
      const name = numbers.getUint32(from + 4);
      if (name === IMAGE_END) return hasPicture;
      hasPicture ||= name === IMAGE_DATA;
      from += CHUNK_BYTES + numbers.getUint32(from);
    }
    at += from;
  }
  return false;
}

/** True when the file has as many bytes as the head of a WebP says. */
export async function isWebpWhole(file: StoredBytes, sizeBytes: number): Promise<boolean> {
  const head = await bytesAt(file, 4, 4);
  return 8 + new DataView(head.buffer).getUint32(0, true) <= sizeBytes;
}

/** The boxes that hold pictures and what is known about them. */
const HEIF_BOXES = ['ftyp', 'free', 'skip', 'meta', 'moov', 'mdat', 'idat', 'uuid'];
const BOX_HEAD_BYTES = 16;
/** Far more than cameras write. */
const BOXES_MAX = 1000;

/** True when no box of a HEIF ends behind the file. What is no box is ignored. */
export async function isHeifWhole(file: StoredBytes, sizeBytes: number): Promise<boolean> {
  let at = 0;
  for (let count = 0; count < BOXES_MAX && at + 8 <= sizeBytes; count += 1) {
    const head = Buffer.from(await bytesAt(file, at, Math.min(BOX_HEAD_BYTES, sizeBytes - at)));
    if (!HEIF_BOXES.includes(head.toString('latin1', 4, 8))) return true;
    const bytes = head.readUInt32BE(0);
    // A length of 0 reaches to the end of the file; one of 1 is written in the next eight bytes.
    if (bytes === 0) return true;
    if (bytes === 1 && head.length < BOX_HEAD_BYTES) return false;
    at += Math.max(8, bytes === 1 ? Number(head.readBigUInt64BE(8)) : bytes);
  }
  return at <= sizeBytes;
}

/** Reads bytes into their own buffer: image-size reads past the end of a view of a larger one. */
export async function bytesAt(file: StoredBytes, position: number, length: number): Promise<Uint8Array> {
  if (file instanceof Uint8Array) {
    // Between two blocks the event loop serves other requests, as it does while a file is read.
    await nextTurn();
    return new Uint8Array(file.subarray(position, position + length));
  }
  const bytes = new Uint8Array(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  return bytesRead === length ? bytes : bytes.slice(0, bytesRead);
}
