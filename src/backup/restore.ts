import { join, resolve } from 'node:path';
import {
  BackupProblem,
  notesOf,
  sumOfFindings,
  type Finding,
  type RestoreOptions,
  type RestoreResult,
  type VerificationNote,
} from '../cli';
import { SNAPSHOT, type BackupManifest, type BackupRecord } from '../contracts/ops/backup';
import { isoOrNull } from '../domain/timestamp';
import { RedisNotAvailable } from '../embedded-redis/find-server';
import { RedisDidNotStart } from '../embedded-redis/ensure';
import { serveSnapshot } from '../embedded-redis/serve-snapshot';
import { openEmbedded } from '../embedded-redis/start';
import { openDataKeys } from '../platform/data-keys';
import { errorMessage } from '../platform/errors';
import { INSTALLATION } from '../platform/config/installation';
import { createQueues } from '../queue/queues';
import { openAccess, privateAccess } from '../store/redis/access';
import { createBackupRecordStore } from '../store/ops/backup-record';
import type { Redis } from '../store/redis/connect';
import { copyData, endCopy, keysUpTo, releaseTarget, takeTarget } from '../store/ops/copy-data';
import { dataKeyFaults, type DataKeyFault } from '../store/ops/data-keys';
import { PARTITION } from '../store/keys';
import { checkSchema, prepareSchema, SchemaMismatch } from '../store/ops/schema';
import { dataKeysOf } from '../store/redis/at-rest';
import { checkData } from './check-data';
import { checkKeptArchive } from './check-kept-archive';
import { explained } from './failure';
import { sizeOf } from './files';
import { openRedis, liveRedis, type OpenedInstallation } from './installation';
import { checkFiles, readManifest, restoreFiles } from './restore-files';

/**
 * Verifies a backup on a private Redis, and restores it unless it is only to be verified.
 *
 * @throws BackupProblem when the folder is no backup, there is no empty Redis to restore it into, or the private Redis
 *   cannot be run.
 */
export async function restoreBackup(options: RestoreOptions, installation: OpenedInstallation): Promise<RestoreResult> {
  const { verifies, ignoresFaults } = options;
  if (options.folder === null) return verifyInPlace(verifies, installation);
  const folder = resolve(options.folder);
  const manifest = await readManifest(folder);
  requireSameInstallation(manifest);
  requireDataKeys(manifest, installation);
  // Before the verification, which may take minutes.
  const target = verifies ? null : await openEmpty(installation);
  const result = { takenAt: manifest.taken_at, note: 'not_tried' as const };
  const files = await checkFiles(folder, manifest);
  const data = await openSnapshot(folder, { manifest, installation });
  if ('state' in data) return { ...result, kind: 'unusable', findings: [files, data] };
  await requireSameDataKeys(data);

  const takenAtMs = Date.parse(manifest.taken_at);
  const backup = { redis: data, dataDir: join(folder, 'data'), takenAtMs };
  const { dataDir } = installation.config;
  const findings = [files, ...(await checkData(backup)), ...(target ? [await checkKeptArchive(backup, dataDir)] : [])];
  const hasFaults = sumOfFindings(findings).faults > 0;
  if (hasFaults && !(target && ignoresFaults)) return { ...result, kind: 'faulty', findings };
  const record = await createBackupRecordStore(data).read();
  if (!target) {
    return { ...result, kind: 'verified', note: await recordVerified(takenAtMs, record, installation), findings };
  }

  // Another restore, or a role, may have written to it during the verification.
  if (!(await takeTarget(target, installation.clock.id()))) throw notEmpty();
  const write = async () => {
    try {
      await restoreFiles(folder, { manifest, dataDir, skipsMissing: hasFaults });
    } catch (error) {
      await releaseTarget(target);
      throw error;
    }
    await restoreRedis(data, target, installation);
    return hasFaults ? 'not_tried' : await createBackupRecordStore(target).verified(takenAtMs, record);
  };
  const note = await explained(write(), { kind: 'restore', folder, dataDir });
  return { ...result, kind: 'restored', note, findings };
}

/** @throws BackupProblem when the backup has the data of another installation. */
function requireSameInstallation({ installation }: BackupManifest): void {
  if (installation === INSTALLATION) return;
  throw new BackupProblem(
    'other_installation',
    `The backup is of the installation ${installation}, and this one is ${INSTALLATION}.`,
    `Set INSTALLATION=${installation}.`,
  );
}

/** @throws BackupProblem when the data keys of the backup are not in the file of this machine. */
function requireDataKeys({ data_keys: needed }: BackupManifest, { config }: OpenedInstallation): void {
  const keys = openDataKeys(config);
  const missing = needed.filter((id) => keys === null || keys.checkOf(id) === null);
  if (missing.length > 0) throw dataKeysMissing(missing);
}

/**
 * Compares the data keys of this machine with the check values in the data, before records that do not open are counted
 * as lost.
 *
 * @throws BackupProblem when a key is missing or has another content.
 */
async function requireSameDataKeys(data: Redis): Promise<void> {
  const faults = await dataKeyFaults(data, dataKeysOf(data));
  const idsOf = (fault: DataKeyFault['fault']) => faults.filter((each) => each.fault === fault).map(({ id }) => id);
  const [missing, different] = [idsOf('missing'), idsOf('different')];
  if (missing.length > 0) throw dataKeysMissing(missing);
  if (different.length === 0) return;
  throw new BackupProblem(
    'data_keys_different',
    `The backup needs data keys that have another content here: ${different.join(', ')}.`,
    FILE_OF_THAT_TIME,
  );
}

function dataKeysMissing(ids: readonly string[]): BackupProblem {
  return new BackupProblem(
    'data_keys_missing',
    `The backup needs data keys that are not here: ${ids.join(', ')}.`,
    FILE_OF_THAT_TIME,
  );
}

const FILE_OF_THAT_TIME = 'Name the file of data keys of that time in DATA_KEYS_FILE.';

/** Checks a Redis that was restored otherwise, such as from a snapshot of its provider. */
async function verifyInPlace(verifies: boolean, installation: OpenedInstallation): Promise<RestoreResult> {
  if (!verifies) throw new BackupProblem('no_folder', 'The folder of the backup is missing.');
  const redis = await openRedis(await liveRedis(installation), installation, 'patient');
  if ((await checkSchema(redis)) === null) throw new BackupProblem('nothing_to_verify', 'Redis holds no data.');
  await requireSameDataKeys(redis);
  const { begunAtMs } = await createBackupRecordStore(redis).read();
  const takenAt = isoOrNull(begunAtMs);
  const findings = await checkData({ redis, dataDir: installation.config.dataDir, takenAtMs: begunAtMs });
  const { faults } = sumOfFindings(findings);
  return { kind: faults === 0 ? 'verified' : 'faulty', takenAt, note: 'not_tried', findings };
}

/** A connection to a private Redis with the snapshot; else what is wrong with it. */
async function openSnapshot(
  folder: string,
  { manifest, installation }: { manifest: BackupManifest; installation: OpenedInstallation },
): Promise<Redis | Finding> {
  const { config, log, resources } = installation;
  const notes = notesOf('redis');
  if ((await sizeOf(join(folder, SNAPSHOT))) === null) {
    // A private Redis without a snapshot would start empty, and nothing would be restored.
    return notes.fault('missing', `${SNAPSHOT} is missing`, 'Take it from another copy, or use an earlier backup.');
  }
  try {
    const lookup = { searchPath: config.searchPath, binary: config.redis.serverBinary, log };
    const server = await serveSnapshot(join(folder, SNAPSHOT), lookup);
    resources.add('snapshot', server, (opened) => opened.stop());
    const access = privateAccess(`${server.url}/${manifest.database}`, openDataKeys(config));
    const redis = await openRedis(access, installation, 'patient');
    await prepareSchema(redis);
    return redis;
  } catch (error) {
    if (error instanceof RedisNotAvailable) throw new BackupProblem('no_redis_server', error.message);
    if (error instanceof RedisDidNotStart && error.wasKilled) throw redisKilled();
    const fix = 'Use a redis-server that is at least as new as the Redis of the backup, or an earlier backup.';
    // The message quotes several lines of a log; a finding is one line.
    if (error instanceof RedisDidNotStart) {
      return notes.fault('unreadable', errorMessage(error).replaceAll(/\s*\n\s*/g, '; '), fix);
    }
    if (error instanceof SchemaMismatch) {
      return notes.fault('other_schema', error.message, `Use the version that made the backup: ${manifest.towhook}.`);
    }
    throw error;
  }
}

/** The Redis of the environment. @throws BackupProblem when it has data. */
async function openEmpty(installation: OpenedInstallation): Promise<Redis> {
  const { config } = installation;
  const url = config.redis.url ?? (await openEmbedded(config, installation));
  const redis = await openRedis(openAccess(config.redis, url, openDataKeys(config)), installation, 'patient');
  if ((await keysUpTo(1, redis)) > 0) throw notEmpty();
  return redis;
}

function notEmpty(): BackupProblem {
  return new BackupProblem(
    'redis_not_empty',
    'The Redis of the environment has data of this installation: nothing was restored.',
    'Restore into one without, and wait for another restore into it to end. If its data is worthless, stop all roles and remove it, with FLUSHDB if no other installation uses that Redis.',
  );
}

/** It says nothing about the backup, so it is no finding. */
function redisKilled(): BackupProblem {
  return new BackupProblem(
    'redis_killed',
    'The private Redis was killed while it loaded the backup, probably for lack of memory.',
    'Give it as much memory as the data takes in Redis, and try again.',
  );
}

/** Copies the data. Sending stays paused until a person resumes it. */
async function restoreRedis(from: Redis, to: Redis, { clock, log, resources }: OpenedInstallation): Promise<void> {
  await copyData(from, to);
  const queues = createQueues({ connection: to, prefix: PARTITION, clock, log });
  resources.add('queues', queues, (opened) => opened.close());
  for (const name of ['reports', 'violations', 'subscriptions'] as const) await queues.byName[name].pause();
  await endCopy(from, to);
}

/** Never rejects: a backup can be verified where the Redis that was backed up cannot be reached. */
async function recordVerified(
  takenAtMs: number,
  contained: BackupRecord,
  installation: OpenedInstallation,
): Promise<VerificationNote> {
  try {
    const live = await openRedis(await liveRedis(installation), installation);
    return await createBackupRecordStore(live).verified(takenAtMs, contained);
  } catch {
    return 'no_answer';
  }
}
