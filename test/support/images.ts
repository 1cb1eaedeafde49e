/** Small images of every accepted kind, and bytes after them that make each as large as a test needs. */

function bytes(...parts: readonly (string | readonly number[])[]): Buffer {
  return Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : Buffer.from(part))),
  );
}

const zeros = (count: number) => Array.from({ length: count }, () => 0);
const u16le = (value: number) => [value & 0xff, value >> 8];
const u32le = (value: number) => [...u16le(value & 0xffff), ...u16le(value >>> 16)];
const u32be = (value: number) => u32le(value).toReversed();
const box = (type: string, ...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([bytes(u32be(body.length + 8), type), body]);
};

/** A PNG of one pixel. */
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

function heif(brand: string): Buffer {
  const ispe = box('ispe', bytes(u32be(0), u32be(64), u32be(48)));
  const meta = box('meta', bytes(u32be(0)), box('iprp', box('ipco', ispe)));
  return Buffer.concat([box('ftyp', bytes(brand, u32be(0), brand)), meta, box('mdat', Buffer.alloc(16))]);
}

const tiffEntry = (tag: number, value: number) => [...u16le(tag), ...u16le(4), ...u32le(1), ...u32le(value)];
/** Its directory follows the image data, as most programs write it. */
const TIFF = bytes(
  'II*\0',
  u32le(2008),
  Array.from({ length: 2000 }, () => 7),
  [...u16le(3), ...tiffEntry(256, 40), ...tiffEntry(257, 30), ...tiffEntry(259, 1), ...u32le(0)],
);

/** Name, bytes and content type of each kind. */
export const IMAGES: readonly (readonly [name: string, image: Buffer, contentType: string])[] = [
  ['a.png', PNG, 'image/png'],
  ['a.jpg', jpeg(0), 'image/jpeg'],
  ['with a large preview.jpg', jpeg(90_000), 'image/jpeg'],
  ['a.gif', bytes('GIF89a', u16le(3), u16le(2), [0x80, 0, 0], [0, 0, 0, 255, 255, 255], [0x2c, 0, 0]), 'image/gif'],
  ['a.bmp', bytes('BM', u32le(70), u32le(0), u32le(54), u32le(40), u32le(4), u32le(4), [1, 0, 24, 0]), 'image/bmp'],
  ['a.webp', bytes('RIFF', u32le(26), 'WEBPVP8X', u32le(10), [0, 0, 0, 0, 9, 0, 0, 7, 0, 0], 'VP8 '), 'image/webp'],
  ['a.tiff', TIFF, 'image/tiff'],
  ['a.heic', heif('heic'), 'image/heic'],
  ['a.heif', heif('mif1'), 'image/heif'],
  ['a.avif', heif('avif'), 'image/avif'],
];

/** One grey block, with a preview of this many bytes before its size. */
function jpeg(previewBytes: number): Buffer {
  const previews: Buffer[] = [];
  for (let left = previewBytes; left > 0; left -= 60_000) {
    const size = Math.min(left, 60_000);
    previews.push(bytes([0xff, 0xe2, (size + 2) >> 8, (size + 2) & 0xff]), Buffer.alloc(size, 0x11));
  }
  const jfif = bytes([0xff, 0xe0, 0, 16], 'JFIF\0', [1, 1, 0, 0, 1, 0, 1, 0, 0]);
  const size = bytes([0xff, 0xc0, 0, 11, 8, 0, 5, 0, 6, 1, 1, 0x11, 0]);
  const tables = bytes([0xff, 0xc4, 0, 38], [0, 1, ...zeros(16)], [0x10, 1, ...zeros(16)]);
  const scan = bytes([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0], [0x3f, 0xff, 0, 0x11], [0xff, 0xd9]);
  return Buffer.concat([bytes([0xff, 0xd8]), jfif, ...previews, tables, size, scan]);
}

/** A JPEG of three blocks with a restart marker after each; `scan` is its image data. */
export const jpegOfBlocks = (scan: readonly number[]): Buffer => {
  const [, image = PNG] = IMAGES[1] ?? [];
  const head = Buffer.from(image.subarray(0, image.indexOf(bytes([0xff, 0xda]))));
  head.writeUInt16BE(24, head.indexOf(bytes([0xff, 0xc0])) + 7);
  return Buffer.concat([head, bytes([0xff, 0xdd, 0, 4, 0, 1], [0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0], scan)]);
};

/** An image of exactly this many bytes; another `seed` gives another one. */
export function imageOf(sizeBytes: number, seed = 1): Buffer {
  const image = Buffer.alloc(sizeBytes, seed);
  PNG.copy(image);
  return image;
}
