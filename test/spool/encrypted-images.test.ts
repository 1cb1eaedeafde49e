import { createHash } from 'node:crypto';
import { copyFile, readFile, stat, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { DataKeys } from '../../src/platform/data-keys';
import { imageKeys, reencryptImages } from '../../src/spool/reencrypt';
import type { DiskSpool } from '../../src/spool';
import type { ImageSource, SpoolPlace } from '../../src/workflow/ops/spool-port';
import { dataKeysText, linesOf } from '../support/data-keys';
import { imageOf } from '../support/images';
import { filesIn, newFolder, openSpool, pieces, sharedMarker } from './world';

const text = dataKeysText('a', 'b');
const keysOf = (...ids: readonly string[]) => new DataKeys('', linesOf(text, ...ids));
const spoolWith = (dataDir: string, keys: DataKeys | null) =>
  openSpool(dataDir, sharedMarker(), undefined, undefined, keys);
const VIOLATION = { kind: 'violation', id: 'v-1' } as const;
const TOW = { kind: 'photos', towingReference: 'T-1' } as const;
/** Longer than the pieces in which files are read. */
const IMAGE = imageOf(300_000);

async function keptIn(spool: DiskSpool, place: SpoolPlace) {
  const upload = await spool.begin();
  const stored = await upload.write(pieces(IMAGE.subarray(0, 10), IMAGE.subarray(10)));
  await upload.keep(place);
  return { stored, path: (await spool.pathOf(place, stored)) ?? '' };
}

/** The bytes that a spool gives for a kept image; null when there is no such image. */
async function bytesOf(spool: DiskSpool, place: SpoolPlace, stored: { file: string; sizeBytes: number }) {
  return bytesFrom(await spool.sourceOf(place, stored));
}

async function bytesFrom(source: ImageSource | null) {
  if (source === null) return null;
  if ('path' in source) return readFile(source.path);
  const parts: Buffer[] = [];
  for await (const part of source.open()) if (Buffer.isBuffer(part)) parts.push(part);
  return Buffer.concat(parts);
}

test('an image is stored encrypted, with the size, hash and type of its plain bytes, and is read as it was', async () => {
  const spool = spoolWith(await newFolder(), keysOf('a'));
  const { stored, path } = await keptIn(spool, VIOLATION);

  const sha256 = createHash('sha256').update(IMAGE).digest('hex');
  expect(stored).toMatchObject({ sizeBytes: IMAGE.length, sha256, contentType: 'image/png' });
  const onDisk = await readFile(path);
  expect(onDisk.toString('latin1')).toMatch(/^aes:1:a:/);
  for (const at of [0, 1000, 200_000]) expect(onDisk.includes(IMAGE.subarray(at, at + 64))).toBe(false);
  expect((await bytesOf(spool, VIOLATION, stored))?.equals(IMAGE)).toBe(true);
});

test('what is no image is stored encrypted without a type', async () => {
  const upload = await spoolWith(await newFolder(), keysOf('a')).begin();
  expect(await upload.write(pieces('Dear all'))).toMatchObject({ sizeBytes: 8, contentType: null });
});

test('an encrypted image does not open after a change, cut off, in the place of another one, or without its key', async () => {
  const dataDir = await newFolder();
  const spool = spoolWith(dataDir, keysOf('a'));
  const { stored, path } = await keptIn(spool, VIOLATION);
  const other = await keptIn(spool, { kind: 'violation', id: 'v-2' });

  await expect(spoolWith(dataDir, null).sourceOf(VIOLATION, stored)).rejects.toMatchObject({ fault: 'missing_key' });
  await expect(spoolWith(dataDir, keysOf('b')).sourceOf(VIOLATION, stored)).rejects.toThrow(
    'encrypted under the key "a"',
  );
  await copyFile(path, other.path);
  expect(await spool.sourceOf({ kind: 'violation', id: 'v-2' }, other.stored)).toBeNull();
  const { size } = await stat(path);
  for (const bytes of [size - 1, 30, 12]) {
    await truncate(path, bytes);
    expect(await spool.pathOf(VIOLATION, stored)).toBeNull();
    expect(await spool.sourceOf(VIOLATION, stored)).toBeNull();
  }
  await truncate(path, size);
  expect(await spool.sourceOf(VIOLATION, stored)).toBeNull();
});

test('re-encrypting encrypts plain images, rotates encrypted ones, and leaves those that do not open', async () => {
  const dataDir = await newFolder();
  const plain = await keptIn(spoolWith(dataDir, null), VIOLATION);
  const older = await keptIn(spoolWith(dataDir, keysOf('a')), TOW);
  const lost = await keptIn(spoolWith(dataDir, new DataKeys('', dataKeysText('gone'))), TOW);
  const before = await readFile(lost.path);
  const newer = spoolWith(dataDir, keysOf('b', 'a'));
  expect((await bytesOf(newer, VIOLATION, plain.stored))?.equals(IMAGE)).toBe(true);
  // One that was opened before goes on after the file is replaced.
  const opened = await newer.sourceOf(VIOLATION, plain.stored);

  let images = 0;
  await reencryptImages(dataDir, { keys: keysOf('b', 'a'), clock: systemClock, onStep: () => (images += 1) });

  const found: string[] = [];
  for await (const id of imageKeys(dataDir)) found.push(String(id));
  expect([images, found.toSorted((a, b) => a.localeCompare(b))]).toEqual([3, ['b', 'b', 'gone']]);
  expect((await readFile(lost.path)).equals(before)).toBe(true);
  expect((await bytesFrom(opened))?.equals(IMAGE)).toBe(true);
  const onlyNew = spoolWith(dataDir, keysOf('b'));
  for (const { stored, place } of [
    { ...plain, place: VIOLATION },
    { ...older, place: TOW },
  ])
    expect((await bytesOf(onlyNew, place, stored))?.equals(IMAGE)).toBe(true);
  expect((await filesIn(join(dataDir, 'spool'))).filter((name) => name.startsWith('draft.'))).toEqual([]);
});
