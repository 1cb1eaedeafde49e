import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '../../src/platform/clock';
import { beginBackup } from '../../src/spool/backup';
import { layoutOf } from '../../src/spool/folders';
import { eventually } from '../support/eventually';
import { PNG } from '../support/images';
import { filesIn, newFolder, openSpool, pieces, sharedMarker } from './world';

const VIOLATION = { kind: 'violation', id: 'v-1' } as const;

/** A spool with the image of one violation, and the images in its folders. */
async function spoolWithImage() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const spool = openSpool(dataDir, marker);
  expect(await spool.state()).toBe('shared');
  const upload = await spool.begin();
  const { file } = await upload.write(pieces(PNG));
  await upload.keep(VIOLATION);
  const images = async () => (await filesIn(join(dataDir, 'spool'))).filter((path) => path.endsWith(file));
  const backupRunning = join(dataDir, 'spool', 'backup-running');
  return { dataDir, marker, spool, file, images, backupRunning };
}

/** As a backup leaves its marker that was killed, or did not renew it, more than an hour ago. */
async function makeOld(backupRunning: string): Promise<void> {
  const longAgoS = Date.now() / 1000 - 3601;
  await utimes(backupRunning, longAgoS, longAgoS);
}

it('images that are dropped during a backup stay on the disk until it ends', async () => {
  const { spool, file, images } = await spoolWithImage();
  const endBackup = await spool.beginBackup();

  await spool.drop(VIOLATION);
  await spool.drop(VIOLATION);

  expect(await images()).toEqual([`dropped/v-1/${file}`]);
  expect(await spool.pathOf(VIOLATION, { file, sizeBytes: PNG.length })).toBeNull();
  await endBackup();
  expect(await images()).toEqual([]);
});

it('images that are dropped after a backup are removed at once', async () => {
  const { spool, images } = await spoolWithImage();
  await (
    await spool.beginBackup()
  )();

  await spool.drop(VIOLATION);

  expect(await images()).toEqual([]);
});

it('a second backup of the same disk is refused while the first one runs', async () => {
  const { spool, dataDir, marker } = await spoolWithImage();
  const endBackup = await spool.beginBackup();

  await expect(openSpool(dataDir, marker).beginBackup()).rejects.toThrow('another backup of this disk is running');

  await endBackup();
  await (
    await spool.beginBackup()
  )();
});

it('images that are dropped in the third hour of a backup stay on the disk until it ends', async () => {
  const { spool, dataDir, marker, file, images, backupRunning } = await spoolWithImage();
  const endBackup = await beginBackup(layoutOf(dataDir), systemClock, 5);
  await makeOld(backupRunning);
  await eventually(async () => expect((await stat(backupRunning)).mtimeMs).toBeGreaterThan(Date.now() - 60_000));

  await spool.drop(VIOLATION);

  expect(await images()).toEqual([`dropped/v-1/${file}`]);
  await expect(openSpool(dataDir, marker).beginBackup()).rejects.toThrow('another backup of this disk is running');
  await endBackup();
  expect(await images()).toEqual([]);
});

it('what a killed backup kept is removed by the sweep after an hour', async () => {
  const { spool, images, backupRunning } = await spoolWithImage();
  await spool.beginBackup();
  await spool.drop(VIOLATION);
  await makeOld(backupRunning);

  const sweeping = spool.startSweeping({
    violation: () => Promise.resolve(true),
    photosOf: () => Promise.resolve(null),
  });

  await eventually(async () => expect(await images()).toEqual([]));
  await sweeping.stop();
});
