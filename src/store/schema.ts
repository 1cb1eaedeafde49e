import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { KEYS } from './keys';
import { MIGRATIONS, type Migration } from './migrations';
import { UnexpectedReply } from './parse';

/**
 * The schema version of the data in Redis. It decides which versions of towhook may use the data: see
 * docs/architecture.md, "Versions of stored data".
 */

/** The schema of data without a stored version, which a process may write while the version cannot be stored. */
const FIRST_VERSION = 1;
/** The field of `migrations` with the oldest schema whose processes may use the data; absent: that of the data. */
export const OLDEST_READER = 'oldest_reader';

/** The schemas that a release can use. */
export interface KnownSchema {
  /** The schema that it writes. */
  readonly version: number;
  /** The oldest schema of data that its processes can use. Older data needs `towhook migrate` first. */
  readonly readsFrom: number;
  /** The oldest schema whose processes can use data that was written by this release alone. */
  readonly oldestReader: number;
}

export interface StoredSchema {
  readonly version: number;
  /** The oldest schema whose processes may use the data. */
  readonly oldestReader: number;
}

/** The data in Redis cannot be used by this version of towhook. */
export class SchemaMismatch extends Error {
  override readonly name = 'SchemaMismatch';

  constructor(
    readonly isDataNewer: boolean,
    message: string,
  ) {
    super(message);
  }
}

/** What is stored in place of the version while the data is not completely restored, followed by the id of the restore. */
export const BEING_RESTORED = 'being restored: ';

/** A restore into this Redis is running or was interrupted, so no process may use its data. */
export class RestoreUnfinished extends Error {
  override readonly name = 'RestoreUnfinished';

  constructor() {
    super(
      'a restore into this Redis is running or was interrupted: wait until it ends, or empty this Redis and restore again',
    );
  }
}

/** The schemas that this release can use. */
export function knownSchema(migrations: readonly Migration[] = MIGRATIONS): KnownSchema {
  const last = (ordered: readonly Migration[]) => ordered.at(-1)?.number ?? FIRST_VERSION;
  return {
    version: last(migrations),
    readsFrom: last(migrations.filter(({ order }) => order === 'before')),
    oldestReader: last(migrations.filter(({ order }) => order === 'after')),
  };
}

/** The schema of the data in Redis; null without data. Writes nothing. @throws RestoreUnfinished */
export async function readSchema(redis: Redis): Promise<StoredSchema | null> {
  const [stored, oldest] = await Promise.all([
    redis.get(KEYS.schemaVersion),
    redis.hget(KEYS.migrations, OLDEST_READER),
  ]);
  if (stored === null && !(await holdsRecords(redis))) return null;
  const version = stored === null ? FIRST_VERSION : versionOf(stored);
  return { version, oldestReader: oldest === null ? version : versionOf(oldest) };
}

/** Whether a version is stored. */
export async function isSchemaStored(redis: Redis): Promise<boolean> {
  return (await redis.exists(KEYS.schemaVersion)) > 0;
}

/** The schema of the data, however old; null without data. Rejects with SchemaMismatch if the data is too new. */
export async function readUsableSchema(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<StoredSchema | null> {
  const stored = await readSchema(redis);
  const { version } = knownSchema(migrations);
  if (stored === null || stored.oldestReader <= version) return stored;
  throw new SchemaMismatch(
    true,
    `Redis holds data of schema ${stored.version}, which versions of towhook from schema ${stored.oldestReader} on can ` +
      `use, and this version has schema ${version}: start the version that wrote it, or a later one`,
  );
}

/** The schema of the data; null without data. Rejects with SchemaMismatch if this version must not use it. */
export async function checkSchema(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<StoredSchema | null> {
  const stored = await readUsableSchema(redis, migrations);
  const { readsFrom } = knownSchema(migrations);
  if (stored === null || stored.version >= readsFrom) return stored;
  throw new SchemaMismatch(
    false,
    `Redis holds data of schema ${stored.version}, and this version of towhook reads schemas from ${readsFrom} on: ` +
      'run `towhook migrate` of this version first',
  );
}

/**
 * Stores the schema version if none is stored, and an epoch, which a restore leaves out. Rejects with SchemaMismatch, or when Redis does not answer or refuses
 * writes.
 */
export async function prepareSchema(redis: Redis, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const before = await checkSchema(redis, migrations);
  const known = knownSchema(migrations);
  if (before === null && known.oldestReader < known.version)
    await redis.hsetnx(KEYS.migrations, OLDEST_READER, known.oldestReader);
  await redis.set(KEYS.schemaVersion, (before ?? known).version, 'NX');
  await redis.set(KEYS.epoch, randomBytes(6).toString('hex'), 'NX');
  // Another process of another version may have stored its version on an empty Redis meanwhile.
  if (before === null) await checkSchema(redis, migrations);
}

function versionOf(stored: string): number {
  if (stored.startsWith(BEING_RESTORED)) throw new RestoreUnfinished();
  if (!/^[1-9]\d{0,8}$/.test(stored)) throw new UnexpectedReply('the version of the schema');
  return Number(stored);
}

async function holdsRecords(redis: Redis): Promise<boolean> {
  const { indexTows, indexViolations, indexDeliveries, archivedMarkers, openTasks, apiKeys, audit, circuits } = KEYS;
  const keys = [indexTows, indexViolations, indexDeliveries, archivedMarkers, openTasks, apiKeys, audit, circuits];
  return (await redis.exists(...keys)) > 0;
}
