import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { PNG } from '../support/images';
import { filesIn, newFolder, openSpool, pieces, sharedMarker } from './world';

const HOUR_MS = 3_600_000;

/** A reference whose folder is named by its hash, and the reference that is that name. */
const LONG = 'TW-'.padEnd(201, 'x');
const NAME_OF_LONG = `sha256-${createHash('sha256').update(LONG).digest('hex')}`;

const photosOf = (towingReference: string) => ({ kind: 'photos' as const, towingReference });

async function disk() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const spool = openSpool(dataDir, marker);
  await spool.state();
  const keep = async (towingReference: string) => {
    const upload = await spool.begin();
    const stored = await upload.write(pieces(PNG));
    await upload.keep(photosOf(towingReference));
    return stored;
  };
  return { dataDir, marker, spool, keep };
}

it('a reference that is the folder name of a longer one has a folder of its own', async () => {
  const { spool, keep } = await disk();
  const [ofLong, ofName] = [await keep(LONG), await keep(NAME_OF_LONG)];

  const paths = [await spool.pathOf(photosOf(LONG), ofLong), await spool.pathOf(photosOf(NAME_OF_LONG), ofName)];
  expect(paths).not.toContain(null);
  expect(new Set(paths.map((path) => dirname(path ?? ''))).size).toBe(2);
});

it('the spool sweep keeps the photos of a long reference beside a tow that is named like their folder', async () => {
  const { dataDir, marker, keep } = await disk();
  const { file } = await keep(LONG);

  const sweeping = openSpool(dataDir, marker, () => Date.now() + 25 * HOUR_MS).startSweeping({
    violation: () => Promise.resolve(true),
    photosOf: (reference) => Promise.resolve(reference === NAME_OF_LONG ? [] : null),
  });
  await sweeping.stop();
  expect((await filesIn(join(dataDir, 'photos'))).map((path) => basename(path))).toEqual([file]);
});

it('references that differ have folders that differ, with names of at most 255 bytes', async () => {
  const { dataDir, keep } = await disk();
  const long = ['م', '/', '😀', '%', 'x'].map((sign) => sign.repeat(200 / sign.length));
  const references = [...long, 'sha256-', NAME_OF_LONG.toUpperCase(), `${NAME_OF_LONG}0`, '.', '..', 'TW.1', 'TW%2E1'];
  for (const reference of references) await keep(reference);

  const names = await readdir(join(dataDir, 'photos'));
  expect(names).toHaveLength(references.length);
  for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(255);
});
