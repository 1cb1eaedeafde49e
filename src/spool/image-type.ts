import { imageSize } from 'image-size';
import { bytesAt, isHeifWhole, isPngWhole, isWebpWhole, type StoredBytes } from './image-end';
import { isJpegWhole, JPEG_SIZES, jpegSegmentAt, START_OF_SCAN } from './jpeg';

/**
 * The accepted kinds of images, detected by their bytes only. Text formats such as SVG are refused, because a browser
 * would run scripts in them.
 */

type ImageFormat = 'jpg' | 'png' | 'webp' | 'gif' | 'bmp' | 'tiff' | 'heif';

/** By the type name that image-size returns. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  bmp: 'image/bmp',
  tiff: 'image/tiff',
  bigtiff: 'image/tiff',
  avif: 'image/avif',
  heic: 'image/heic',
  heix: 'image/heic',
  hevc: 'image/heic',
  hevx: 'image/heic',
  mif1: 'image/heif',
  msf1: 'image/heif',
};

/** A shorter file is cut off, even if image-size can read it. */
const HEADER_BYTES: Readonly<Record<ImageFormat, number>> = {
  jpg: 12,
  png: 33,
  webp: 26,
  gif: 14,
  bmp: 26,
  tiff: 26,
  heif: 32,
};

/** Enough for every header but those of JPEG, TIFF and HEIF. */
const HEAD_BYTES = 4096;
/** Far more than cameras need. image-size takes quadratic time for the parts of a HEIF: half a minute for 1 MB. */
const HEIF_HEAD_BYTES = 65_536;
const JPEG_SIZE_BYTES = 10;
/** The directory of a TIFF may be anywhere, mostly after the image data. No image has more entries than fit here. */
const TIFF_DIRECTORY_BYTES = 16_384;

/** What the bytes of a file are: `isDamaged` when they are an image of which a part is missing. */
export interface ImageFinding {
  /** Null when they are no image, or one of a kind that is not accepted. */
  readonly contentType: string | null;
  readonly isDamaged: boolean;
}

const NO_IMAGE: ImageFinding = { contentType: null, isDamaged: false };

/** Finds the kind of an image, and whether it is whole. */
export async function imageTypeOf(file: StoredBytes, sizeBytes: number): Promise<ImageFinding> {
  const head = await bytesAt(file, 0, Math.min(HEAD_BYTES, sizeBytes));
  const kind = kindOf(head);
  if (kind === null || sizeBytes < HEADER_BYTES[kind]) return NO_IMAGE;
  const contentType = typeIn(await headerOf(kind, file, head, sizeBytes));
  return contentType === null ? NO_IMAGE : { contentType, isDamaged: !(await isWhole(kind, file, sizeBytes)) };
}

/** The bytes in which image-size finds the image size, as few as possible: it does not yield to the event loop. */
function headerOf(
  kind: ImageFormat,
  file: StoredBytes,
  head: Uint8Array,
  sizeBytes: number,
): Promise<Uint8Array> | Uint8Array {
  switch (kind) {
    case 'jpg':
      return jpegHeader(file, sizeBytes);
    case 'tiff':
      return tiffHeader(file, head, sizeBytes);
    case 'heif':
      return bytesAt(file, 0, Math.min(HEIF_HEAD_BYTES, sizeBytes));
    case 'png':
    case 'webp':
    case 'gif':
    case 'bmp':
      return head;
  }
}

/** Checked for what cameras, screens and messengers produce. */
function isWhole(kind: ImageFormat, file: StoredBytes, sizeBytes: number): Promise<boolean> | boolean {
  switch (kind) {
    case 'jpg':
      return isJpegWhole(file, sizeBytes);
    case 'png':
      return isPngWhole(file, sizeBytes);
    case 'webp':
      return isWebpWhole(file, sizeBytes);
    case 'heif':
      return isHeifWhole(file, sizeBytes);
    case 'gif':
    case 'bmp':
    case 'tiff':
      return true;
  }
}

function typeIn(head: Uint8Array): string | null {
  try {
    const { type, width, height } = imageSize(head);
    if (!(width > 0 && height > 0)) return null;
    return CONTENT_TYPES[type ?? ''] ?? null;
  } catch {
    return null;
  }
}

/** Detects the kind by the first bytes, and by what follows them where text could begin the same way. */
function kindOf(head: Uint8Array): ImageFormat | null {
  if (starts(head, 0, [0xff, 0xd8, 0xff])) return 'jpg';
  if (starts(head, 0, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png';
  if (text(head, 0, 4) === 'RIFF' && text(head, 8, 12) === 'WEBP') return 'webp';
  if (/^GIF8[79]a$/.test(text(head, 0, 6))) return isGif(head) ? 'gif' : null;
  if (text(head, 0, 2) === 'BM') return BMP_HEADERS.has(head[14] ?? 0) && head[15] === 0 ? 'bmp' : null;
  if (starts(head, 0, [0x49, 0x49, 0x2a, 0]) || starts(head, 0, [0x4d, 0x4d, 0, 0x2a])) return 'tiff';
  if (text(head, 4, 8) === 'ftyp') return 'heif';
  return null;
}

/** Sizes of the header that follows the file header of a BMP. */
const BMP_HEADERS: ReadonlySet<number> = new Set([12, 16, 40, 52, 56, 64, 108, 124]);

/** A GIF continues with one of three block types after its colour table. */
function isGif(head: Uint8Array): boolean {
  const flags = head[10] ?? 0;
  const coloursBytes = (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1);
  return [0x21, 0x2c, 0x3b].includes(head[13 + coloursBytes] ?? 0);
}

/** The beginning of a JPEG with an empty segment and the one that has its size. */
async function jpegHeader(file: StoredBytes, sizeBytes: number): Promise<Uint8Array> {
  const sizeAt = await jpegSegmentAt(file, sizeBytes, [...JPEG_SIZES, START_OF_SCAN]);
  if (sizeAt === null) return new Uint8Array(0);
  const size = await bytesAt(file, sizeAt, Math.min(JPEG_SIZE_BYTES, sizeBytes - sizeAt));
  return Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 2, ...size);
}

/** The header of a TIFF with its directory moved directly behind it. */
async function tiffHeader(file: StoredBytes, head: Uint8Array, sizeBytes: number): Promise<Uint8Array> {
  const isLittleEndian = head[0] === 0x49;
  const directoryAt = new DataView(head.buffer).getUint32(4, isLittleEndian);
  if (directoryAt < 8 || directoryAt >= sizeBytes) return new Uint8Array(0);
  const directory = await bytesAt(file, directoryAt, Math.min(TIFF_DIRECTORY_BYTES, sizeBytes - directoryAt));
  const header = new Uint8Array(8 + directory.length);
  header.set(head.subarray(0, 4));
  new DataView(header.buffer).setUint32(4, 8, isLittleEndian);
  header.set(directory, 8);
  return header;
}

function starts(head: Uint8Array, at: number, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[at + index] === byte);
}

function text(head: Uint8Array, from: number, to: number): string {
  return String.fromCodePoint(...head.subarray(from, to));
}
