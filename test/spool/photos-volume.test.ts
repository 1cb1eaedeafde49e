import { accessSync, constants, statSync } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DataKeys } from '../../src/platform/data-keys';
import { systemClock } from '../../src/platform/clock';
import { imageKeys, reencryptImages } from '../../src/spool/reencrypt';
import { dataKeysText, linesOf } from '../support/data-keys';
import { imageOf } from '../support/images';
import { filesIn, newFolder, openSpool, pieces, sharedMarker } from './world';

const OTHER_VOLUME = '/dev/shm';
const TOW = { kind: 'photos', towingReference: 'T-1' } as const;
const IMAGE = imageOf(300_000);
const DAYS_2_MS = 48 * 3_600_000;

const describeOnTwoVolumes = hasOtherVolume() ? describe : describe.skip;

function hasOtherVolume(): boolean {
  try {
    accessSync(OTHER_VOLUME, constants.W_OK);
    return statSync(OTHER_VOLUME).dev !== statSync(tmpdir()).dev;
  } catch {
    return false;
  }
}

/** A spool whose photos are on another volume, with the photo of one tow. */
async function spoolOnTwoVolumes() {
  const [dataDir, photos, marker] = [await newFolder(), await newFolder(OTHER_VOLUME), sharedMarker()];
  await symlink(photos, join(dataDir, 'photos'));
  const spool = openSpool(dataDir, marker);
  await spool.state();
  const upload = await spool.begin();
  const stored = await upload.write(pieces(IMAGE));
  await upload.keep(TOW);
  return { dataDir, photos, marker, spool, upload, stored };
}

describeOnTwoVolumes('photos on a volume of their own', () => {
  it('photos on a volume of their own are kept whole and private, and can be taken back', async () => {
    const { dataDir, photos, spool, upload, stored } = await spoolOnTwoVolumes();

    const path = (await spool.pathOf(TOW, stored)) ?? '';
    expect((await readFile(path)).equals(IMAGE)).toBe(true);
    expect((await stat(path)).mode & 0o077).toBe(0);
    expect(await filesIn(photos)).toEqual([`T-1/${stored.file}`]);
    expect(await filesIn(dataDir)).toEqual(['spool/claimed', 'spool/marker']);
    await upload.takeBack();
    expect(await filesIn(photos)).toEqual([]);
  });

  it('the spool sweep moves a photo without a record from a volume of its own to the orphans', async () => {
    const { dataDir, photos, marker, stored } = await spoolOnTwoVolumes();

    const later = openSpool(dataDir, marker, () => Date.now() + DAYS_2_MS);
    const references = { violation: () => Promise.resolve(true), photosOf: () => Promise.resolve([]) };
    await later.startSweeping(references).stop();

    expect(await filesIn(photos)).toEqual([]);
    expect(await filesIn(join(dataDir, 'spool', 'orphans'))).toEqual([`photos.T-1/${stored.file}`]);
  });

  it('photos on a volume of their own are encrypted in their place', async () => {
    const { dataDir, photos, stored } = await spoolOnTwoVolumes();
    const keys = new DataKeys('', linesOf(dataKeysText('a'), 'a'));

    await reencryptImages(dataDir, { keys, clock: systemClock, onStep: () => {} });

    const sealedUnder: (string | null)[] = [];
    for await (const id of imageKeys(dataDir)) sealedUnder.push(id);
    expect(sealedUnder).toEqual(['a']);
    expect(await filesIn(photos)).toEqual([`T-1/${stored.file}`]);
    expect(await filesIn(dataDir)).toEqual(['spool/claimed', 'spool/marker']);
  });
});

describeOnTwoVolumes('violations on a volume of their own', () => {
  it('a spool whose folder of violations is on another volume is unusable, and the problem names the cause', async () => {
    const [dataDir, violations] = [await newFolder(), await newFolder(OTHER_VOLUME)];
    await mkdir(join(dataDir, 'spool'));
    await symlink(violations, join(dataDir, 'spool', 'violations'));
    const spool = openSpool(dataDir);

    expect(await spool.state()).toBe('unusable');
    expect(spool.problem()).toContain('must be on one volume');
    expect(await filesIn(violations)).toEqual([]);

    await rm(join(dataDir, 'spool', 'violations'));
    expect(await spool.state()).toBe('shared');
    expect(spool.problem()).toBeNull();
  });
});
