import { ArchiveBroken, ArchiveKeyMissing } from '../archive/read-file';
import { readArchive, verifyArchive } from '../archive/read';
import { notesOf, type Finding } from '../cli';
import { isoTimestamp } from '../domain/timestamp';
import { folderOf, layoutOf } from '../spool/folders';
import { noneIfUnusable, plainPieces } from '../spool/stored-image';
import { createAuditStore } from '../store/ops/audit';
import { createBackupRecordStore } from '../store/ops/backup-record';
import type { Redis } from '../store/redis/connect';
import { completeScan } from '../store/ops/conservation';
import { keptImages } from '../store/violation/kept-images';
import { dataKeysOf } from '../store/redis/at-rest';
import { verifyAudit } from '../workflow/ops/verify-audit';
import { join } from 'node:path';
import { sizeAndHashOf } from './files';

export interface CheckedData {
  readonly redis: Redis;
  /** The folder with spool, photos and archive that belongs to it. */
  readonly dataDir: string;
  /** The time for which the data must vouch, Unix ms; null without one. */
  readonly takenAtMs: number | null;
}

const EARLIER = 'Use an earlier backup.';

/** Checks that the data of an installation is complete and fits together. No role may use it. */
export async function checkData(data: CheckedData): Promise<Finding[]> {
  return [
    ...(data.takenAtMs === null ? [] : [await checkTime(data.redis, data.takenAtMs)]),
    await checkConservation(data.redis),
    await checkAudit(data),
    await checkArchive(data),
    ...(await checkImages(data)),
  ];
}

/** The snapshot must contain the time that was written into Redis before it was taken. */
async function checkTime(redis: Redis, takenAtMs: number): Promise<Finding> {
  const notes = notesOf('time');
  const { begunAtMs } = await createBackupRecordStore(redis).read();
  if ((begunAtMs ?? 0) >= takenAtMs) {
    return notes.fine('as_stated', `everything acknowledged before ${isoTimestamp(takenAtMs)} is in it`);
  }
  return notes.fault('older', 'the snapshot of Redis is older than the backup states', EARLIER);
}

async function checkConservation(redis: Redis): Promise<Finding> {
  const notes = notesOf('conservation');
  const scan = await completeScan(redis);
  if (scan === null) return notes.fault('no_result', 'the conservation check gave no result', EARLIER);
  const { deliveries, reports, violations, lostNames } = scan;
  const counted = `${deliveries.acknowledged} webhooks, ${reports.acknowledged} reports, ${violations.acknowledged} violations`;
  const waiting = reports.acknowledged - reports.finished + violations.acknowledged - violations.finished;
  const lost = deliveries.lost + reports.lost + violations.lost;
  if (lost === 0)
    return notes.fine('nothing_lost', `${counted}: none lost; ${waiting} reports and violations are open`);
  return notes.fault('lost', `${counted}: ${lost} lost, such as ${lostNames[0] ?? ''}`, EARLIER);
}

async function checkAudit({ redis, dataDir }: CheckedData): Promise<Finding> {
  const notes = notesOf('audit');
  const kept = await createAuditStore(redis).lines();
  const { extent, broken } = await verifyAudit({
    kept,
    archived: readArchive(dataDir, { type: 'audit', keys: dataKeysOf(redis) }),
    noted: null,
  }).catch(brokenChain);
  if (broken) return notes.fault('broken', `the chain breaks at entry ${broken.seq}: ${broken.problem}`, EARLIER);
  if (!extent) return notes.fine('no_entries', 'there is no entry yet');
  const { firstSeq, lastSeq, headHash } = extent;
  return notes.fine('unbroken', `${lastSeq - firstSeq + 1} entries, head ${lastSeq}:${headHash}`);
}

/** The check of the archive reports what is wrong with its files. */
function brokenChain(error: unknown): Awaited<ReturnType<typeof verifyAudit>> {
  if (!(error instanceof ArchiveBroken) && !(error instanceof ArchiveKeyMissing)) throw error;
  return { extent: null, broken: { seq: 0, problem: 'the archive cannot be read' } };
}

async function checkArchive({ redis, dataDir }: CheckedData): Promise<Finding> {
  const notes = notesOf('archive');
  const { files, batches, unopened, broken } = await verifyArchive(dataDir, { keys: dataKeysOf(redis) });
  const [first] = broken;
  if (first) return notes.fault('broken', `${broken.length} files are broken: ${first.message}`, EARLIER);
  const missing = Object.keys(unopened);
  if (missing.length === 0) return notes.fine('unbroken', `${batches} batches in ${files} files`);
  return notes.warning(
    'data_keys_missing',
    `${batches} batches are as they were written, but some need data keys that are not here: ${missing.join(', ')}`,
    'Name the file of data keys of that time in DATA_KEYS_FILE.',
  );
}

async function checkImages({ redis, dataDir }: CheckedData): Promise<Finding[]> {
  const layout = layoutOf(dataDir);
  const checked = { violation: 0, photos: 0 };
  const missing = { violation: 0, photos: 0 };
  let unreadable = 0;
  for await (const image of keptImages(redis)) {
    if (image === 'unreadable') {
      unreadable += 1;
      continue;
    }
    const { place, file, sizeBytes, sha256 } = image;
    checked[place.kind] += 1;
    const pieces = plainPieces(join(folderOf(layout, place), file), dataKeysOf(redis));
    const found = await sizeAndHashOf(pieces).catch(noneIfUnusable);
    if (found?.bytes !== sizeBytes || found.sha256 !== sha256) missing[place.kind] += 1;
  }
  const [images, photos] = [notesOf('images'), notesOf('photos')];
  return [
    missing.violation === 0
      ? images.fine('complete', `${checked.violation} images of open violations`)
      : images.fault('missing', `${missing.violation} of ${checked.violation} images are missing or changed`, EARLIER),
    missing.photos === 0
      ? photos.fine('complete', `${checked.photos} photos of tows`)
      : photos.warning(
          'missing',
          `${missing.photos} of ${checked.photos} photos of tows are missing or changed`,
          'No action is needed if people removed them.',
        ),
    ...(unreadable === 0 ? [] : [unreadableFinding(unreadable)]),
  ];
}

/** A warning: of these records, the conservation check counts the damaged ones as lost. */
function unreadableFinding(records: number): Finding {
  return notesOf('images').warning(
    'records_unreadable',
    `the images and photos of ${records} records were not checked, because the records cannot be read`,
    'If the records are not damaged, use the version and the data keys (DATA_KEYS_FILE) that wrote them.',
  );
}
