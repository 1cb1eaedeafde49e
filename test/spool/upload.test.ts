import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { imageOf, PNG } from '../support/images';
import { filesIn, newFolder, openSpool, pieces } from './world';

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const VIOLATION = { kind: 'violation', id: 'v-1' } as const;
const TOW = { kind: 'photos', towingReference: 'TW-20261120-AAAAAA' } as const;

it('an uploaded file is stored byte for byte with its size, hash and detected type', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const upload = await spool.begin();
  const image = imageOf(300_000);
  const stored = await upload.write(
    pieces(image.subarray(0, 10), image.subarray(10, 200_000), image.subarray(200_000)),
  );
  expect(stored).toMatchObject({ sizeBytes: 300_000, sha256: sha256(image), contentType: 'image/png' });
  await upload.keep(VIOLATION);
  const path = await spool.pathOf(VIOLATION, stored);
  expect(path).toBe(join(dataDir, 'spool', 'violations', 'v-1', stored.file));
  expect((await readFile(path ?? '')).equals(image)).toBe(true);
});

it('an uploaded file that is not an image is stored without an image type', async () => {
  const upload = await openSpool(await newFolder()).begin();
  expect(await upload.write(pieces('Dear all'))).toMatchObject({ sizeBytes: 8, contentType: null });
});

it('an upload is not visible before it is kept', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  expect(await spool.pathOf(VIOLATION, stored)).toBeNull();
  await upload.discard();
  await upload.discard();
  expect(await filesIn(dataDir)).toEqual([]);
});

it('an upload that was kept survives discard and can be taken back', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  await upload.keep(VIOLATION);
  await upload.discard();
  expect(await spool.pathOf(VIOLATION, stored)).not.toBeNull();
  await upload.takeBack();
  expect(await filesIn(dataDir)).toEqual([]);
});

it('several uploads of photos of one tow coexist, and each takes back only its own', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const [first, second] = [await spool.begin(), await spool.begin()];
  const [one, two] = [await first.write(pieces(PNG)), await second.write(pieces(imageOf(100)))];
  await first.keep(TOW);
  await second.keep(TOW);
  expect(dirname((await spool.pathOf(TOW, one)) ?? '')).toBe(join(dataDir, 'photos', 'TW-20261120-AAAAAA'));
  await second.takeBack();
  expect([await spool.pathOf(TOW, one), await spool.pathOf(TOW, two)]).toEqual([expect.any(String), null]);
});

it.each(['../../etc', '..', '.', '', 'a/b', 'a\\b', '.hidden', 'x'.repeat(5000), 'مرجع', '\u{d800}', 'TW 1'])(
  'a tow reference stays a single folder name in the spool for the value %j',
  async (towingReference) => {
    const dataDir = await newFolder();
    const spool = openSpool(dataDir);
    const upload = await spool.begin();
    const stored = await upload.write(pieces(PNG));
    await upload.keep({ kind: 'photos', towingReference });
    expect((await filesIn(dataDir)).map((path) => path.split('/').length)).toEqual([3]);
    expect((await filesIn(dataDir))[0]).toMatch(/^photos\/[^./]+\//);
    expect(await spool.pathOf({ kind: 'photos', towingReference }, stored)).not.toBeNull();
    expect(await spool.pathOf({ kind: 'photos', towingReference: `${towingReference}x` }, stored)).toBeNull();
  },
);

it.each(['../marker', '..', '.', '', '/etc/passwd'])(
  'the spool finds no stored file outside its own folder for the name %j',
  async (file) => {
    const dataDir = await newFolder();
    const spool = openSpool(dataDir);
    await spool.state();
    const upload = await spool.begin();
    await upload.write(pieces(PNG));
    await upload.keep(VIOLATION);
    expect(await spool.pathOf(VIOLATION, { file, sizeBytes: PNG.length })).toBeNull();
  },
);

it('dropping the images of a violation removes exactly them, and may be repeated', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  for (const id of ['v-1', 'v-2']) {
    const upload = await spool.begin();
    await upload.write(pieces(PNG));
    await upload.write(pieces(PNG));
    await upload.keep({ kind: 'violation', id });
  }
  await spool.drop(VIOLATION);
  await spool.drop(VIOLATION);
  expect((await filesIn(dataDir)).map((path) => path.split('/')[2])).toEqual(['v-2', 'v-2']);
});

it('other images of a violation are kept beside the earlier ones, and taken back alone', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const [first, other] = [await spool.begin(), await spool.begin()];
  const [one, two] = [await first.write(pieces(PNG)), await other.write(pieces(imageOf(100)))];
  await first.keep(VIOLATION);
  await other.keep(VIOLATION);
  expect(await spool.pathOf(VIOLATION, two)).not.toBeNull();
  await other.takeBack();
  expect(await spool.pathOf(VIOLATION, two)).toBeNull();
  expect(await spool.pathOf(VIOLATION, one)).not.toBeNull();
});

it('a failing upload stream fails the file and leaves nothing after discard', async () => {
  const dataDir = await newFolder();
  const upload = await openSpool(dataDir).begin();
  async function* failing(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(PNG);
    throw new Error('the client went away');
  }
  await expect(upload.write(failing())).rejects.toThrow('the client went away');
  await upload.discard();
  expect(await filesIn(dataDir)).toEqual([]);
});

it('an upload that cannot be moved to its place fails and leaves nothing', async () => {
  const dataDir = await newFolder();
  const spool = openSpool(dataDir);
  const upload = await spool.begin();
  await upload.write(pieces(PNG));
  await writeFile(join(dataDir, 'spool', 'violations'), 'in the way');
  await expect(upload.keep(VIOLATION)).rejects.toThrow(/EEXIST|ENOTDIR/);
  expect(await filesIn(dataDir)).toEqual(['spool/violations']);
});

it('stored uploads are readable only by the user of the process', async () => {
  const dataDir = await newFolder();
  await mkdir(join(dataDir, 'spool'), { mode: 0o700 });
  await chmod(dataDir, 0o755);
  const spool = openSpool(dataDir);
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  await upload.keep(VIOLATION);
  const path = (await spool.pathOf(VIOLATION, stored)) ?? '';
  const modes = [path, dirname(path), dirname(dirname(path))].map(async (each) => (await stat(each)).mode & 0o077);
  expect(await Promise.all(modes)).toEqual([0, 0, 0]);
});

it('a stored file with another length or without a file counts as missing', async () => {
  const spool = openSpool(await newFolder());
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  await upload.keep(VIOLATION);
  const path = (await spool.pathOf(VIOLATION, stored)) ?? '';
  await truncate(path, 5);
  expect(await spool.pathOf(VIOLATION, stored)).toBeNull();
  await rm(path);
  expect(await spool.pathOf(VIOLATION, stored)).toBeNull();
  await rm(dirname(path), { recursive: true });
  await writeFile(dirname(path), 'a file in the place of the folder');
  expect(await spool.pathOf(VIOLATION, stored)).toBeNull();
});

it('a disk error while looking for a stored file is an error, not a missing file', async () => {
  const spool = openSpool(await newFolder());
  const upload = await spool.begin();
  const stored = await upload.write(pieces(PNG));
  await upload.keep(VIOLATION);
  const path = (await spool.pathOf(VIOLATION, stored)) ?? '';
  await rm(path);
  // A link that leads to itself.
  await symlink(path, path);
  await expect(spool.pathOf(VIOLATION, stored)).rejects.toMatchObject({ code: 'ELOOP' });
});

it('uploads for one violation that are kept at the same time keep their files, also when one is taken back', async () => {
  const spool = openSpool(await newFolder());
  const uploads = await Promise.all(Array.from({ length: 6 }, () => spool.begin()));
  const stored = await Promise.all(uploads.map((upload) => upload.write(pieces(PNG))));
  await Promise.all(uploads.map((upload) => upload.keep(VIOLATION)));
  await uploads[0]?.takeBack();
  const paths = await Promise.all(stored.map((file) => spool.pathOf(VIOLATION, file)));
  expect(paths.map((path) => path !== null)).toEqual([false, true, true, true, true, true]);
});
