import type { Finding } from '../../cli';
import type { Clock } from '../../platform/clock';
import { silentLog } from '../../platform/log';
import { codeOf } from '../../platform/system-error';
import { createSpool, type SharedMarker } from '../../spool';
import { createSpoolMarker } from '../../store/spool-marker';
import { notesOf } from './finding';
import type { Connection } from './redis';

const notes = notesOf('images');

/** As if no disk were in use yet: then the state tells of this one alone. */
const NO_DISK_IN_USE: SharedMarker = { read: () => Promise.resolve(null), claim: (id) => Promise.resolve(id) };

/** The disk of images: whether this DATA_DIR is the one that console and workers share. */
export async function lookAtSpool(
  redis: Connection,
  { dataDir, clock, adoptsDisk }: { dataDir: string; clock: Clock; adoptsDisk: boolean },
): Promise<Finding> {
  try {
    const marker = createSpoolMarker(redis);
    // Looking must not make this machine's disk the one in use.
    if (!adoptsDisk && (await marker.read()) === null) {
      return notes.fine('disk_not_in_use', 'no image was ever taken in');
    }
    const stateOf = (shared: SharedMarker) => createSpool({ dataDir, marker: shared, clock, log: silentLog }).state();
    // The disk in use stays the one in use unless this one is of use.
    const isAdoptable = adoptsDisk && (await stateOf(NO_DISK_IN_USE)) === 'shared';
    if (isAdoptable) await marker.forget();
    switch (adoptsDisk && !isAdoptable ? 'unusable' : await stateOf(marker)) {
      case 'shared':
        return notes.fine('disk_shared', `DATA_DIR is the disk in use${adoptsDisk ? ' from now on' : ''}`);
      case 'foreign':
        return notes.fault(
          'disk_foreign',
          'DATA_DIR is another disk than the one in use: images taken in elsewhere cannot be sent from here',
          'Mount the same DATA_DIR for every console and worker. If the disk in use is gone for good: towhook doctor --adopt-disk.',
        );
      case 'unusable':
        return notes.fault(
          'disk_unusable',
          'images cannot be written to DATA_DIR/spool',
          'Give the user of the roles the right to write there, and make room on that disk.',
        );
    }
  } catch (error) {
    return notes.skipped('not_looked_at', `it could not be seen which disk is in use: ${codeOf(error) ?? 'no answer'}`);
  }
}
