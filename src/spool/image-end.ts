import type { FileHandle } from 'node:fs/promises';
import { setImmediate as nextTurn } from 'node:timers/promises';

/**
 * Detects images that were cut off in transit, which their header does not show. Bytes after the end of an image are
 * ignored. A file is read at most once, block by block.
 */

const BLOCK_BYTES = 65_536;

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

/** True when a JPEG has a scan followed by the end marker. */
export async function isJpegWhole(file: StoredBytes, sizeBytes: number): Promise<boolean> {
  const scanAt = await jpegSegmentAt(file, sizeBytes, [START_OF_SCAN]);
  if (scanAt === null) return false;
  // Inside image data 0xff is never followed by 0xd9.
  for (let at = scanAt; at < sizeBytes; at += BLOCK_BYTES - 1) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (Buffer.from(block.buffer, block.byteOffset, block.length).includes(END_OF_IMAGE)) return true;
  }
  return false;
}

const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);
/** The marker of the segment with which the image data of a JPEG begins. */
export const START_OF_SCAN = 0xda;
/** Marker and length of a JPEG segment. */
const SEGMENT_HEAD_BYTES = 4;

/**
 * The position of the first segment of a JPEG that has one of the markers; null without one. Other segments, such as
 * previews, are skipped by their lengths.
 */
export async function jpegSegmentAt(
  file: StoredBytes,
  sizeBytes: number,
  markers: readonly number[],
): Promise<number | null> {
  let at = 2;
  while (at + SEGMENT_HEAD_BYTES <= sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (block.length < SEGMENT_HEAD_BYTES) return null;
    const numbers = new DataView(block.buffer, block.byteOffset, block.length);
    let from = 0;
    while (from + SEGMENT_HEAD_BYTES <= block.length) {
      const first = numbers.getUint8(from);
      const mark = numbers.getUint8(from + 1);
      if (first === 0xff && markers.includes(mark)) return at + from;
      if (first !== 0xff || mark === 0 || mark === 0xff) from += 1;
      else from += hasNoLength(mark) ? 2 : 2 + numbers.getUint16(from + 2);
    }
    at += from;
  }
  return null;
}

function hasNoLength(mark: number): boolean {
  return mark === 0x01 || (mark >= 0xd0 && mark <= 0xd9);
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
