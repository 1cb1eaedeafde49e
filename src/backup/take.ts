import { readdir, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { archiveFolder } from '../archive/files';
import { BackupProblem, type TakenBackup } from '../cli';
import { backupManifest, MANIFEST, SNAPSHOT, type BackedUpFile } from '../contracts/ops/backup';
import { isoTimestamp } from '../domain/timestamp';
import { makeFolder } from '../platform/folders';
import { INSTALLATION } from '../platform/config/installation';
import { projectVersion } from '../platform/process';
import { createSpool } from '../spool';
import { BackupRunning } from '../spool/backup';
import { layoutOf } from '../spool/folders';
import { createBackupRecordStore } from '../store/ops/backup-record';
import type { Redis, Server } from '../store/redis/connect';
import { neededDataKeys } from '../store/ops/data-keys';
import { readSchema } from '../store/ops/schema';
import { SnapshotFailed, snapshotOf } from '../store/redis/snapshot';
import { createSpoolMarker } from '../store/ops/spool-marker';
import type { SpoolState } from '../workflow/ops/spool-port';
import { copyFiles, filesBelow, sizeOf, writeFileTo } from './files';
import { openRedis, liveRedis, type OpenedInstallation } from './installation';

/**
 * Writes a backup of a running installation into a new or empty folder. The parts are read in an order that makes them
 * fit together:
 *
 * 1. From now on images that are dropped are kept.
 * 2. The time of the backup is written into Redis. Then Redis sends a snapshot, which contains it.
 * 3. Images, photos and archive are copied. What the snapshot refers to is among them: a file is written before a
 *    record refers to it, and of all files only dropped images are removed.
 *
 * @throws BackupProblem when it cannot be made; a folder that was begun is empty again.
 */
export async function takeBackup(folder: string, installation: OpenedInstallation): Promise<TakenBackup> {
  const target = resolve(folder);
  const server = await liveRedis(installation);
  const redis = await openRedis(server, installation);
  const schema = await readSchema(redis);
  if (schema === null) throw new BackupProblem('nothing_to_back_up', 'Redis holds no data.');
  // A change of data keys may note one key and forget another meanwhile. The parts may need both.
  const keysBefore = await neededDataKeys(redis);
  // Before the folder is looked at: another backup may be writing into it.
  const keepNoLonger = await beginBackup(redis, installation);
  try {
    await requireEmpty(target);
    await makeFolder(target);
    const source = { redis, server, installation, schemaVersion: schema, keysBefore };
    return { folder, ...(await fillFolder(target, source)) };
  } finally {
    await keepNoLonger();
  }
}

interface BackupSource {
  readonly redis: Redis;
  readonly server: Server;
  readonly installation: OpenedInstallation;
}

/** Writes all parts into an empty folder, which is empty again when it fails. */
async function fillFolder(
  target: string,
  source: BackupSource & { readonly schemaVersion: number; readonly keysBefore: readonly string[] },
): Promise<Omit<TakenBackup, 'folder'>> {
  const { redis, schemaVersion, keysBefore } = source;
  try {
    const { takenAt, files } = await copyParts(target, source);
    const keysNow = await neededDataKeys(redis);
    const manifest = backupManifest.parse({
      format: 1,
      towhook: projectVersion(),
      installation: INSTALLATION,
      schema_version: schemaVersion,
      taken_at: takenAt,
      database: redis.options.db ?? 0,
      data_keys: [...new Set([...keysBefore, ...keysNow])].toSorted(),
      files,
    });
    await writeFileTo(target, MANIFEST, lines(JSON.stringify(manifest, null, 1)));
    return { takenAt, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
  } catch (error) {
    for (const name of await readdir(target)) await rm(join(target, name), { recursive: true, force: true });
    throw error instanceof SnapshotFailed ? snapshotProblem(error) : error;
  }
}

/** Keeps images that are dropped from now on. @throws BackupProblem when another backup runs, or DATA_DIR is unusable. */
async function beginBackup(redis: Redis, { config, clock, log }: OpenedInstallation): Promise<() => Promise<void>> {
  const { dataDir, keep } = config;
  const spool = createSpool({ dataDir, marker: createSpoolMarker(redis), keepMs: keep.violationsMs, clock, log });
  const state = await spool.state();
  if (state !== 'shared') throw diskProblem(state);
  try {
    return await spool.beginBackup();
  } catch (error) {
    throw error instanceof BackupRunning ? new BackupProblem('backup_running', error.message) : error;
  }
}

async function requireEmpty(folder: string): Promise<void> {
  if ((await filesBelow(folder)).length === 0) return;
  throw new BackupProblem('folder_not_empty', `${folder} is not empty.`, 'Give each backup a new folder.');
}

/** Copies Redis first, and then the files. Returns the time of the backup. */
async function copyParts(
  target: string,
  { redis, server, installation }: BackupSource,
): Promise<{ readonly takenAt: string; readonly files: readonly BackedUpFile[] }> {
  const { dataDir } = installation.config;
  const layout = layoutOf(dataDir);
  const files = new Map<string, BackedUpFile>();
  // A change of data keys may replace an image by one of another length meanwhile.
  const wholeFiles = async (from: string) => (await filesBelow(from)).map((file) => ({ ...file, bytes: Infinity }));
  const copy = async (from: string, to: string, only = wholeFiles(from)) => {
    for (const file of await copyFiles(from, { target, to }, await only)) files.set(file.path, file);
  };
  const takenAtMs = await createBackupRecordStore(redis).begin();
  files.set(SNAPSHOT, await writeFileTo(target, SNAPSHOT, snapshotOf(await openRedis(server, installation))));
  // What is appended to the archive from now on belongs to the time after the snapshot. Only files that
  // are complete are ever replaced.
  const archive = archiveFolder(dataDir);
  const archived = await filesBelow(archive);
  const markerSize = (await sizeOf(layout.marker)) ?? 0;
  await copy(layout.spool, 'data/spool', Promise.resolve([{ path: basename(layout.marker), bytes: markerSize }]));
  await copy(layout.violations, 'data/spool/violations');
  // After the others, because images that are dropped meanwhile move from there to here.
  await copy(layout.dropped, 'data/spool/violations');
  await copy(layout.orphans, 'data/spool/orphans');
  await copy(layout.photos, 'data/photos');
  await copy(archive, 'data/archive', Promise.resolve(archived));
  return { takenAt: isoTimestamp(takenAtMs), files: [...files.values()] };
}

function diskProblem(state: Exclude<SpoolState, 'shared'>): BackupProblem {
  switch (state) {
    case 'foreign':
      return new BackupProblem(
        'disk_foreign',
        'DATA_DIR is not the disk that this Redis knows.',
        'Run `towhook doctor`.',
      );
    case 'unusable':
      return new BackupProblem(
        'disk_unusable',
        'DATA_DIR/spool cannot be read or written, which a backup needs to keep images while it copies them.',
        'Make room on that disk, and give the user of the backup the right to write there.',
      );
  }
}

function snapshotProblem({ message }: SnapshotFailed): BackupProblem {
  return new BackupProblem(
    'no_snapshot',
    `Redis gave no snapshot: ${message}`,
    'The user of REDIS_URL needs the permission for SYNC. A hosted Redis may refuse it: see docs/operations/backup.md.',
  );
}

async function* lines(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${text}\n`);
}
