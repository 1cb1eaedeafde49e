import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, asyncProperty, nat, record, tuple } from 'fast-check';
import { imageTypeOf, type ImageFinding } from '../../src/spool/image-type';
import { IMAGES, jpegOfBlocks, PNG } from '../support/images';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** `damaged` for an image of which a part is missing. */
function wholeTypeOf({ contentType, isDamaged }: ImageFinding): string | null {
  return isDamaged ? 'damaged' : contentType;
}

/** The content type of a whole image; null for no image, `damaged` for one of which a part is missing. */
async function typeOf(bytes: Buffer): Promise<string | null> {
  const path = join(folder, 'image');
  await writeFile(path, bytes);
  const file = await open(path, 'r');
  try {
    return wholeTypeOf(await imageTypeOf(file, bytes.length));
  } finally {
    await file.close();
  }
}

it.each(IMAGES)('the type of the image %s is detected from its bytes', async (_name, image, contentType) => {
  expect(await typeOf(image)).toBe(contentType);
});

it.each(IMAGES)(
  'the type of the image %s is detected with megabytes after its header',
  async (_name, image, contentType) => {
    expect(await typeOf(Buffer.concat([image, Buffer.alloc(2_000_000, 7)]))).toBe(contentType);
  },
);

it.each(IMAGES)('the file %s with a truncated header is not an image', async (_name, image) => {
  for (const length of [0, 1, 2, 3, 4, 8, 11]) expect(await typeOf(image.subarray(0, length))).toBeNull();
});

it('a PNG that ends within its first chunk is not an image', async () => {
  const [, png = Buffer.alloc(0)] = IMAGES[0] ?? [];
  for (const length of [16, 20, 24, 28, 32]) expect(await typeOf(png.subarray(0, length))).toBeNull();
});

const SMALL_PREVIEW = IMAGES[1]?.[1] ?? PNG;
const LARGE_PREVIEW = IMAGES[2]?.[1] ?? PNG;
it.each([
  ['PNG', PNG, 33, PNG.length - 1],
  ['JPEG', SMALL_PREVIEW, SMALL_PREVIEW.indexOf('3fff00', 'hex') - 8, SMALL_PREVIEW.indexOf('3fff00', 'hex')],
  ['JPEG with a preview', LARGE_PREVIEW, LARGE_PREVIEW.length - 16, LARGE_PREVIEW.length - 6],
  ['WebP', IMAGES[5]?.[1] ?? PNG, 30, 33],
  ['HEIC', IMAGES[7]?.[1] ?? PNG, 76, 91],
])('a %s of which the rest is missing is a damaged image', async (_name, image, from, to) => {
  for (let length = from; length <= to; length += 1) {
    expect([length, await typeOf(image.subarray(0, length))]).toEqual([length, 'damaged']);
  }
});

it('a PNG of many chunks is an image only with its end', async () => {
  const [head, tail] = [PNG.subarray(0, 33), PNG.subarray(33)];
  for (const size of [0, 1, 4000, 65_523, 65_524, 65_525, 65_536, 300_000]) {
    const piece = Buffer.concat([Buffer.from([0, 0, 0, 0]), Buffer.from('teXt'), Buffer.alloc(size + 4, 9)]);
    piece.writeUInt32BE(size, 0);
    const pieces = Array.from({ length: Math.ceil(200_000 / piece.length) }, () => piece);
    const image = Buffer.concat([head, ...pieces, tail, Buffer.from('behind it')]);
    expect([size, await typeOf(image)]).toEqual([size, 'image/png']);
    expect([size, await typeOf(Buffer.concat([head, ...pieces]))]).toEqual([size, 'damaged']);
  }
});

describe('a JPEG', () => {
  const [, image = Buffer.alloc(0)] = IMAGES[1] ?? [];
  const [whole, end] = [image.subarray(0, -2), image.subarray(-2)];
  const preview = Buffer.concat([Buffer.from([0xff, 0xe1, 0, image.length + 8]), Buffer.from('Exif\0\0'), image]);

  /** Of the two scans of the image, the second has the coefficients but the first. */
  const progressiveOf = (...scans: Buffer[]) => {
    const progressive = Buffer.from(whole.subarray(0, whole.indexOf(Buffer.from([0xff, 0xda]))));
    progressive[progressive.indexOf(Buffer.from([0xff, 0xc0])) + 1] = 0xc2;
    return Buffer.concat([progressive, ...scans]);
  };
  const scanOf = (first: number, last: number, bits: number) =>
    Buffer.from([0xff, 0xda, 0, 8, 1, 1, 0, first, last, bits, 0x3f, 0xff, 0, 0xff, 0xd0, 0x11]);

  it('a progressive JPEG is whole with all its scans and its end', async () => {
    const scans = [scanOf(0, 0, 1), scanOf(1, 63, 0), scanOf(0, 0, 0x10)];
    expect(await typeOf(progressiveOf(...scans, end))).toBe('image/jpeg');
    expect(await typeOf(progressiveOf(...scans))).toBe('damaged');
    expect(await typeOf(progressiveOf(...scans.slice(0, 2), end))).toBe('damaged');
    expect(await typeOf(progressiveOf(...scans.slice(1), end))).toBe('image/jpeg');
  });

  it('a JPEG without its end marker is whole when all its blocks are there', async () => {
    expect(await typeOf(whole)).toBe('image/jpeg');
    expect(await typeOf(whole.subarray(0, -3))).toBe('image/jpeg');
    expect(await typeOf(whole.subarray(0, -4))).toBe('damaged');
  });

  it.each([
    ['whole', 'image/jpeg', [0x3f, 0xff, 0xd0, 0x3f, 0xff, 0xd1, 0x3f]],
    ['without its last block', 'damaged', [0x3f, 0xff, 0xd0, 0x3f, 0xff, 0xd1]],
    ['without a block between two restarts', 'damaged', [0x3f, 0xff, 0xd0, 0xff, 0xd1, 0x3f]],
    ['with a block that is no code', 'damaged', [0x3f, 0xff, 0xd0, 0x80, 0xff, 0xd1, 0x3f]],
  ])('the blocks of a JPEG are counted: %s', async (_what, found, scan) => {
    for (const trailer of ['ffd9', 'ffd9ffd8ffe0', '']) {
      expect(await typeOf(Buffer.concat([jpegOfBlocks(scan), Buffer.from(trailer, 'hex')]))).toBe(found);
    }
  });

  it.each([
    ['of text', Buffer.from('SEFHe\x00\x00\x00SEFT')],
    ['with a second image', image],
  ])('a JPEG that ends early is damaged although a trailer %s has an end marker', async (_what, trailer) => {
    const cut = jpegOfBlocks([0x3f]);
    expect(await typeOf(Buffer.concat([cut, trailer, end]))).toBe('damaged');
  });

  it('a truncated JPEG is damaged although its embedded preview is complete', async () => {
    const previewed = Buffer.concat([image.subarray(0, 2), preview, whole.subarray(2)]);
    expect(await typeOf(previewed.subarray(0, -4))).toBe('damaged');
    expect(await typeOf(Buffer.concat([previewed, end]))).toBe('image/jpeg');
  });

  it('a JPEG is an image with previews of megabytes before its size', async () => {
    const previews = Array.from({ length: 30_000 }, () => preview);
    expect(await typeOf(Buffer.concat([image.subarray(0, 2), ...previews, image.subarray(2)]))).toBe('image/jpeg');
  });

  it('a JPEG is an image with its end at any position and fill bytes before its markers', async () => {
    for (const filled of [65_500, 65_520, 65_535, 65_536, 131_070]) {
      for (let more = 0; more < 20; more += 1) {
        const long = Buffer.concat([whole, Buffer.alloc(filled - whole.length + more, 0x11), end, Buffer.alloc(9)]);
        expect([filled + more, await typeOf(long)]).toEqual([filled + more, 'image/jpeg']);
      }
    }
    const scanAt = whole.indexOf(Buffer.from([0xff, 0xda]));
    const padding = Buffer.alloc(70_000, 0xff);
    const padded = Buffer.concat([whole.subarray(0, scanAt), padding, whole.subarray(scanAt), end]);
    expect(await typeOf(padded)).toBe('image/jpeg');
  });
});

it('a HEIF with more headers than a camera writes is not an image, because reading them would take seconds', async () => {
  const [, heic = PNG] = IMAGES.find(([name]) => name === 'a.heic') ?? [];
  const [ipco, part] = [heic.indexOf('ipco') - 4, heic.indexOf('ispe') - 4];
  /** The image with its size given so many times. */
  const withSizes = (count: number) => {
    const size = heic.subarray(part, part + heic.readUInt32BE(part));
    const more = (count - 1) * size.length;
    const image = Buffer.concat([heic.subarray(0, part), Buffer.alloc(count * size.length, size)]);
    for (const box of ['meta', 'iprp', 'ipco']) {
      const at = heic.indexOf(box) - 4;
      image.writeUInt32BE(heic.readUInt32BE(at) + more, at);
    }
    return Buffer.concat([image, heic.subarray(ipco + heic.readUInt32BE(ipco))]);
  };
  expect(await typeOf(withSizes(3000))).toBe('image/heic');
  expect(await typeOf(withSizes(5000))).toBeNull();
});

it.each([
  'Dear all, see attached.',
  'BMW with the plate ABJ 1234, parked before the gate of the hospital',
  'GIF89a is the name of a format, as everybody knows, and this is a text about it',
  'RIFF is a format; WEBP is another one that is packed into it',
  '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10"><script>alert(1)</script></svg>',
  '<?xml version="1.0"?><svg width="10" height="10"/>',
  'P3\n2 2\n255\n255 0 0 0 255 0 0 0 255 255 255 255\n',
  '%PDF-1.7\n%',
  'PK\u0003\u0004',
])('a file of another kind is not an image: %s', async (text) => {
  expect(await typeOf(Buffer.from(text))).toBeNull();
});

it('an image of an unsupported type is not an image', async () => {
  const icon = Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0, 4, 0, 0, 22, 0, 0, 0]);
  const photoshop = Buffer.concat([Buffer.from('8BPS'), Buffer.alloc(30, 1)]);
  for (const image of [icon, photoshop]) expect(await typeOf(Buffer.concat([image, Buffer.alloc(200)]))).toBeNull();
});

/** Runs `work`, and returns how many turns the event loop made meanwhile. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isOver = false;
  const count = () => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await work();
  isOver = true;
  return turns;
}

const MEGABYTES_10 = 10_000_000;
const filledWith = (head: Buffer, filling: readonly number[]) =>
  Buffer.concat([head, Buffer.alloc(MEGABYTES_10, Buffer.from(filling))]);
const JPEG_WITH_SIZE = (IMAGES[1]?.[1] ?? PNG).subarray(0, -16);

it.each([
  ['JPEG of zeros', filledWith(JPEG_WITH_SIZE, [0])],
  ['JPEG without a size', filledWith(Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 2]), [0])],
  ['JPEG of fill bytes', filledWith(JPEG_WITH_SIZE, [0xff])],
  ['JPEG of empty segments', filledWith(JPEG_WITH_SIZE, [0xff, 0xe0, 0, 2])],
  ['PNG of empty chunks', filledWith(PNG.subarray(0, 33), [0, 0, 0, 0, 0x74, 0x65, 0x58, 0x74, 0, 0, 0, 0])],
])('the event loop goes on while the end of a truncated %s is searched in memory', async (_what, image) => {
  const turns = await turnsDuring(async () =>
    expect([null, 'damaged']).toContain(wholeTypeOf(await imageTypeOf(image, image.length))),
  );
  // A turn for each 100 kB.
  expect(turns).toBeGreaterThan(100);
});

/** Detection takes milliseconds; the limit allows for a slow machine and still finds a loop that grows. */
const HANG_CPU_MS = 10_000;

it('image type detection ends soon for any corrupted image', async () => {
  const change = record({
    which: nat(IMAGES.length - 1),
    changes: array(tuple(nat(400), nat(255)), { maxLength: 6 }),
    length: nat(400),
  });
  await assert(
    asyncProperty(change, async ({ which, changes, length }) => {
      const image = Buffer.from(IMAGES[which]?.[1] ?? '');
      for (const [at, value] of changes) if (at < image.length) image[at] = value;
      const before = process.cpuUsage();
      await typeOf(image.subarray(0, Math.max(length, 12)));
      // A machine that is busy with other programs lets time pass, but no time of this process.
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1000).toBeLessThan(HANG_CPU_MS);
    }),
    { numRuns: 500 },
  );
});
