import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifest } from '../../src/backup/restore-files';
import { MANIFEST } from '../../src/contracts/ops/backup';

let folder = '';
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'towhook-backup-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

test('a folder without a manifest, and a path that is no folder, are no complete backups', async () => {
  await writeFile(join(folder, 'file'), '');

  for (const path of [folder, join(folder, 'absent'), join(folder, 'file')]) {
    await expect(readManifest(path)).rejects.toMatchObject({ code: 'no_backup' });
  }
});

test('a backup whose manifest cannot be read is not called incomplete, and the message names the error', async () => {
  await mkdir(join(folder, MANIFEST));

  await expect(readManifest(folder)).rejects.toMatchObject({
    code: 'backup_unreadable',
    message: `The manifest.json of ${folder} cannot be read (EISDIR).`,
  });
});
