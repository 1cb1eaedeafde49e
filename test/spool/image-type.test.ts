import { mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { array, assert, asyncProperty, nat, record, tuple } from 'fast-check';
import { imageTypeOf } from '../../src/spool/image-type';
import { IMAGES } from '../support/images';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-images-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function typeOf(bytes: Buffer): Promise<string | null> {
  const path = join(folder, 'image');
  await writeFile(path, bytes);
  const file = await open(path, 'r');
  try {
    return await imageTypeOf(file, bytes.length);
  } finally {
    await file.close();
  }
}

it.each(IMAGES)('%s is told by its bytes', async (_name, image, contentType) => {
  expect(await typeOf(image)).toBe(contentType);
});

it.each(IMAGES)('%s is told with megabytes behind it', async (_name, image, contentType) => {
  expect(await typeOf(Buffer.concat([image, Buffer.alloc(2_000_000, 7)]))).toBe(contentType);
});

it.each(IMAGES)('%s with its header cut off is no image', async (_name, image) => {
  for (const length of [0, 1, 2, 3, 4, 8, 11]) expect(await typeOf(image.subarray(0, length))).toBeNull();
});

it('a PNG that ends within its first block is no image', async () => {
  const [, png = Buffer.alloc(0)] = IMAGES[0] ?? [];
  for (const length of [16, 20, 24, 28, 32]) expect(await typeOf(png.subarray(0, length))).toBeNull();
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
])('text and other files are no images: %s', async (text) => {
  expect(await typeOf(Buffer.from(text))).toBeNull();
});

it('kinds of images that are not taken are no images', async () => {
  const icon = Buffer.from([0, 0, 1, 0, 1, 0, 16, 16, 0, 0, 1, 0, 32, 0, 0, 4, 0, 0, 22, 0, 0, 0]);
  const photoshop = Buffer.concat([Buffer.from('8BPS'), Buffer.alloc(30, 1)]);
  for (const image of [icon, photoshop]) expect(await typeOf(Buffer.concat([image, Buffer.alloc(200)]))).toBeNull();
});

it('whatever is changed in an image, an answer comes and comes soon', async () => {
  const change = record({
    which: nat(IMAGES.length - 1),
    changes: array(tuple(nat(400), nat(255)), { maxLength: 6 }),
    length: nat(400),
  });
  await assert(
    asyncProperty(change, async ({ which, changes, length }) => {
      const image = Buffer.from(IMAGES[which]?.[1] ?? '');
      for (const [at, value] of changes) if (at < image.length) image[at] = value;
      const startedMs = performance.now();
      await typeOf(image.subarray(0, Math.max(length, 12)));
      expect(performance.now() - startedMs).toBeLessThan(1000);
    }),
    { numRuns: 500 },
  );
});
