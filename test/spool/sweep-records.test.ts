import { join } from 'node:path';
import { silentLog } from '../../src/platform/log/log';
import { towKey, violationKey } from '../../src/store/keys';
import { createImageReferences } from '../../src/store/violation/kept-images';
import type { SpoolPlace } from '../../src/workflow/ops/spool-port';
import { PNG } from '../support/images';
import { useStores } from '../support/stores';
import { reportViolations } from '../support/violations';
import { filesIn, KEEP_MS, newFolder, openSpool, pieces, sharedMarker } from './world';

const stores = useStores();

const HOUR_MS = 3_600_000;

/**
 * Violations U1 to U3 and tows T1 to T4 with a file each, and images without a violation. No tow lists its photo, so it is
 * moved if the tow can be read. `sweep` runs once, when the files are old enough to be moved.
 */
async function prepareDisk() {
  const [dataDir, marker] = [await newFolder(), sharedMarker()];
  const spool = openSpool(dataDir, marker);
  await spool.state();
  const keep = async (place: SpoolPlace) => {
    const upload = await spool.begin();
    await upload.write(pieces(PNG));
    await upload.keep(place);
  };
  await reportViolations(stores, 'U1', 'U2', 'U3');
  for (const id of ['U1', 'U2', 'U3', 'unknown']) await keep({ kind: 'violation', id });
  for (const ref of ['T1', 'T2', 'T3', 'T4']) {
    await stores.request(ref);
    await keep({ kind: 'photos', towingReference: ref });
  }
  const warned: string[] = [];
  const log = { ...silentLog, warn: (event: string) => warned.push(event) };
  const sweep = async () => {
    const later = () => Date.now() + KEEP_MS + HOUR_MS;
    await openSpool(dataDir, marker, later, log).startSweeping(createImageReferences(stores.redis)).stop();
    return warned.splice(0);
  };
  const foldersIn = async (...path: string[]) =>
    (await filesIn(join(dataDir, ...path))).map((file) => file.split('/')[0]);
  const orphans = () => foldersIn('spool', 'orphans');
  return { sweep, orphans, violations: () => foldersIn('spool', 'violations'), photos: () => foldersIn('photos') };
}

it('the spool sweep keeps the files of records that cannot be read, and moves other files without a record', async () => {
  const { sweep, orphans, violations, photos } = await prepareDisk();
  await stores.redis.hset(violationKey('U1'), 'document', 'broken');
  await stores.redis.hset(violationKey('U2'), 'later', 'aes:1:removed:AAAA');
  await stores.redis.hset(towKey('T1'), 'head', '{"plate_number"');
  await stores.redis.hset(towKey('T2'), 'later', 'aes:1:removed:AAAA');
  await stores.redis.hset(towKey('T3'), 'head', 'aes:1:removed:AAAA');

  expect(await sweep()).toEqual(['spool.orphaned']);

  expect(await violations()).toEqual(['U1', 'U2', 'U3']);
  expect(await photos()).toEqual(['T1', 'T2', 'T3']);
  expect(await orphans()).toEqual(['photos.T4', 'unknown']);
});

it('the spool sweep moves nothing and fails while Redis does not answer', async () => {
  const { sweep, orphans } = await prepareDisk();
  stores.redis.disconnect();

  expect(await sweep()).toEqual(['spool.sweep.failed']);

  expect(await orphans()).toEqual([]);
});
