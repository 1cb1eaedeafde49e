import type { FileHandle } from 'node:fs/promises';
import { bytesAt } from './bytes-at';

/**
 * Whether an image was cut off on its way: its header alone does not tell. Whatever stands behind the end of a picture does
 * not matter. A file is read once at most, a block at a time.
 */

const BLOCK_BYTES = 65_536;

/** What a PNG begins with. */
const SIGNATURE_BYTES = 8;
/** Length, name and checksum of a chunk of a PNG. */
const CHUNK_BYTES = 12;

/** True when a PNG has its picture and, behind it, the chunk that ends it. */
export async function isPngWhole(file: FileHandle, sizeBytes: number): Promise<boolean> {
  let hasPicture = false;
  let at = SIGNATURE_BYTES;
  while (at + CHUNK_BYTES <= sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (block.length < CHUNK_BYTES) return false;
    const numbers = new DataView(block.buffer, block.byteOffset, block.length);
    let from = 0;
    while (from + 8 <= block.length && at + from + CHUNK_BYTES <= sizeBytes) {
      const name = String.fromCodePoint(...block.subarray(from + 4, from + 8));
      if (name === 'IEND') return hasPicture;
      hasPicture ||= name === 'IDAT';
      from += CHUNK_BYTES + numbers.getUint32(from);
    }
    at += from;
  }
  return false;
}

/** True when a JPEG has a scan and, behind its beginning, the mark that ends it. */
export async function isJpegWhole(file: FileHandle, sizeBytes: number): Promise<boolean> {
  const scanAt = await scanOf(file, sizeBytes);
  if (scanAt === null) return false;
  // Within a picture the first byte of a mark is never followed by the second one of this.
  for (let at = scanAt; at < sizeBytes; at += BLOCK_BYTES - 1) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (Buffer.from(block.buffer, block.byteOffset, block.length).includes(END_OF_IMAGE)) return true;
  }
  return false;
}

const END_OF_IMAGE = Buffer.from([0xff, 0xd9]);
const START_OF_SCAN = 0xda;
/** The mark and the length of a segment of a JPEG. */
const SEGMENT_HEAD_BYTES = 4;

/** Where the first scan of a JPEG begins. Segments before it, with whatever previews, are passed over by their lengths. */
async function scanOf(file: FileHandle, sizeBytes: number): Promise<number | null> {
  let at = 2;
  while (at + SEGMENT_HEAD_BYTES <= sizeBytes) {
    const block = await bytesAt(file, at, Math.min(BLOCK_BYTES, sizeBytes - at));
    if (block.length < SEGMENT_HEAD_BYTES) return null;
    let from = 0;
    while (from + SEGMENT_HEAD_BYTES <= block.length) {
      const [first = 0, mark = 0, high = 0, low = 0] = block.subarray(from, from + SEGMENT_HEAD_BYTES);
      if (first === 0xff && mark === START_OF_SCAN) return at + from;
      if (first !== 0xff || mark === 0 || mark === 0xff) from += 1;
      else from += hasNoLength(mark) ? 2 : 2 + ((high << 8) | low);
    }
    at += from;
  }
  return null;
}

function hasNoLength(mark: number): boolean {
  return mark === 0x01 || (mark >= 0xd0 && mark <= 0xd9);
}
