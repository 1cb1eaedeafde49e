import { appendFile, mkdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { archiveFolder } from '../../src/archive/files';
import { verifyArchive } from '../../src/archive/read';
import { reencryptArchive } from '../../src/archive/reencrypt';
import { copyFiles, filesBelow } from '../../src/backup/files';
import { restoreFiles } from '../../src/backup/restore-files';
import { backupManifest, type BackedUpFile } from '../../src/contracts/ops/backup';
import { DataKeys } from '../../src/platform/data-keys';
import { clockAt, idsIn, NOON_MS, useDataDir, writeBatches } from '../archive/folder';
import { dataKeysText } from '../support/data-keys';

const dataDir = useDataDir();
const FILE = '2026-03-10.1.ndjson.gz';
const keys = new DataKeys('', dataKeysText('a'));
const pathIn = (folder: string) => join(archiveFolder(folder), FILE);
const backup = () => join(dataDir.path, 'backup');

async function reencrypt(): Promise<void> {
  const draftFolder = join(dataDir.path, 'spool');
  const activeEpoch = () => Promise.resolve(null);
  const options = { keys, clock: clockAt(NOON_MS), draftFolder, activeEpoch, onStep: () => {}, onBroken: () => {} };
  await reencryptArchive(dataDir.path, options);
}

const copyArchive = async (listed: ReturnType<typeof filesBelow>) =>
  copyFiles(archiveFolder(dataDir.path), { target: backup(), to: 'data/archive' }, await listed);

function manifestOf(files: readonly BackedUpFile[]) {
  const about = { format: 1, towhook: '0.1.0', installation: 'main', schema_version: 1, database: 0, data_keys: [] };
  return backupManifest.parse({ ...about, taken_at: new Date(NOON_MS).toISOString(), files });
}

test('a backup has a file of the archive up to its listed size, and whole when it was re-encrypted meanwhile', async () => {
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const listed = await filesBelow(archiveFolder(dataDir.path));
  const { size } = await stat(pathIn(dataDir.path));
  await appendFile(pathIn(dataDir.path), 'appended after the listing');
  await copyArchive(Promise.resolve(listed));
  expect((await stat(join(backup(), 'data', 'archive', FILE))).size).toBe(size);

  await writeFile(pathIn(dataDir.path), (await readFile(pathIn(dataDir.path))).subarray(0, size));
  await reencrypt();
  await copyArchive(Promise.resolve(listed));
  expect((await readFile(join(backup(), 'data', 'archive', FILE))).equals(await readFile(pathIn(dataDir.path)))).toBe(
    true,
  );
  expect(await verifyArchive(join(backup(), 'data'))).toMatchObject({ batches: 2, torn: [], broken: [] });
});

test('a restore keeps a re-encrypted file that has the batches of the backup, and replaces one that lacks some', async () => {
  const restored = join(dataDir.path, 'restored');
  await writeBatches(dataDir.path, [['d1'], ['d2']]);
  const files = await copyArchive(filesBelow(archiveFolder(dataDir.path)));
  const restore = () => restoreFiles(backup(), { manifest: manifestOf(files), dataDir: restored, skipsMissing: false });
  await restore();
  expect(await idsIn(restored)).toEqual(['d1', 'd2']);

  await reencrypt();
  const rewritten = await readFile(pathIn(dataDir.path));
  await writeFile(pathIn(restored), rewritten);
  await restore();
  expect((await readFile(pathIn(restored))).equals(rewritten)).toBe(true);

  // Longer than the file of the backup, with fewer batches.
  await mkdir(join(dataDir.path, 'other'));
  await writeBatches(join(dataDir.path, 'other'), [Array.from({ length: 500 }, (_, at) => `x${at}`)]);
  await writeFile(pathIn(restored), await readFile(pathIn(join(dataDir.path, 'other'))));
  await restore();
  expect(await idsIn(restored)).toEqual(['d1', 'd2']);
});

test.each([
  ['of another installation', 'another', 'DATA_DIR is the disk of another installation: nothing was restored.'],
  [
    'that was in use, from a backup without an image',
    null,
    'DATA_DIR has been in use, and the backup is from before its disk had an image: nothing was restored.',
  ],
])('a restore refuses a disk %s', async (_disk, backedUp, message) => {
  const write = async (folder: string, id: string) => {
    await mkdir(join(folder, 'spool'), { recursive: true });
    await writeFile(join(folder, 'spool', 'marker'), id);
  };
  if (backedUp !== null) await write(join(backup(), 'data'), backedUp);
  await write(dataDir.path, 'this');

  const restoring = restoreFiles(backup(), { manifest: manifestOf([]), dataDir: dataDir.path, skipsMissing: false });

  await expect(restoring).rejects.toMatchObject({ code: 'disk_foreign', message });
});

test('a backup has the file that a symbolic link of the archive names', async () => {
  await writeBatches(dataDir.path, [['d1']]);
  const named = join(dataDir.path, 'elsewhere');
  await rename(pathIn(dataDir.path), named);
  await symlink(named, pathIn(dataDir.path));
  await copyArchive(filesBelow(archiveFolder(dataDir.path)));
  expect(await idsIn(join(backup(), 'data'))).toEqual(['d1']);
});
