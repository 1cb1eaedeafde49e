import { randomBytes } from 'node:crypto';
import type { Redis } from 'ioredis';
import { KEYS } from '../keys';
import { MIGRATIONS, type Migration } from '../migrations';
import { UnexpectedReply } from '../redis/parse';

/**
 * The schema of the data in Redis: one number, the oldest schema whose processes may use it. See docs/architecture.md,
 * "Versions of stored data".
 */

/** The schema of data without a stored version, which a process may write while the version cannot be stored. */
const FIRST_VERSION = 1;
/** The field of a migration in the hash `migrations`, once its last step is stored. */
export const MIGRATED = 'done';

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

/** The schema of this release: the number of its last migration. */
export function knownSchema(migrations: readonly Migration[] = MIGRATIONS): number {
  return migrations.at(-1)?.number ?? FIRST_VERSION;
}

/** The schema of the data in Redis; null without data. Writes nothing. @throws RestoreUnfinished */
export async function readSchema(redis: Redis): Promise<number | null> {
  const stored = await redis.get(KEYS.schemaVersion);
  if (stored !== null) return versionOf(stored);
  return (await holdsRecords(redis)) ? FIRST_VERSION : null;
}

/** Whether a version is stored. */
export async function isSchemaStored(redis: Redis): Promise<boolean> {
  return (await redis.exists(KEYS.schemaVersion)) > 0;
}

/** The schema of the data, however old; null without data. Rejects with SchemaMismatch if the data is too new. */
export async function readUsableSchema(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<number | null> {
  const stored = await readSchema(redis);
  const known = knownSchema(migrations);
  if (stored === null || stored <= known) return stored;
  throw new SchemaMismatch(
    true,
    `Redis holds data of schema ${stored}, and this version of towhook has schema ${known}: start the version that wrote ` +
      'it, or a later one',
  );
}

/** The schema of the data; null without data. Rejects with SchemaMismatch if this version must not use it. */
export async function checkSchema(redis: Redis, migrations: readonly Migration[] = MIGRATIONS): Promise<number | null> {
  const stored = await readUsableSchema(redis, migrations);
  if (stored === null) return null;
  const known = knownSchema(migrations);
  const place = await redis.hget(KEYS.migrations, String(stored));
  if (stored === known && (place === null || place === MIGRATED)) return stored;
  const is = stored === known ? 'that is not completely migrated' : `and this version of towhook has schema ${known}`;
  throw new SchemaMismatch(
    false,
    `Redis holds data of schema ${stored}, ${is}: run \`towhook migrate\` of this version first`,
  );
}

/**
 * Stores the schema version if none is stored, and an epoch, which a restore leaves out. Rejects with SchemaMismatch, or when Redis does not answer or refuses
 * writes.
 */
export async function prepareSchema(redis: Redis, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const before = await checkSchema(redis, migrations);
  await redis.set(KEYS.schemaVersion, before ?? knownSchema(migrations), 'NX');
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
