import type { Redis } from 'ioredis';
import { KEYS } from './keys';
import { UnexpectedReply } from './parse';

/** The version of the schema of everything that is stored in Redis: which processes may work on it. */

/**
 * Brings stored data from one version of the schema to the next. It may be repeated and may run in several processes at a
 * time: a migration finds what is still old and leaves the rest alone.
 */
export interface Migration {
  readonly description: string;
  readonly migrate: (redis: Redis) => Promise<void>;
}

/** The schema of data that was stored before its version was. */
const FIRST_VERSION = 1;
/** In order: the first leads from version 1 to 2. Their number is the version that this program knows; none is ever removed. */
const MIGRATIONS: readonly Migration[] = [];

/** Redis holds data of a later version of towhook, which this one would damage. */
export class SchemaTooNew extends Error {
  constructor(
    readonly stored: number,
    readonly known: number,
  ) {
    super(
      `Redis holds data of schema ${stored}, and this version of towhook knows schemas up to ${known}: ` +
        'start the version that wrote it, or a later one',
    );
    this.name = 'SchemaTooNew';
  }
}

export interface PreparedSchema {
  /** The version that the data had; null when Redis held none. */
  readonly before: number | null;
  readonly after: number;
}

/** The version of the data in Redis; null when it holds none. Writes nothing. */
export async function readSchemaVersion(redis: Redis): Promise<number | null> {
  const stored = await redis.get(KEYS.schemaVersion);
  if (stored === null) return (await holdsRecords(redis)) ? FIRST_VERSION : null;
  if (!/^[1-9]\d{0,8}$/.test(stored)) throw new UnexpectedReply('the version of the schema');
  return Number(stored);
}

/** The version that this program writes. */
export function knownSchemaVersion(migrations: readonly Migration[] = MIGRATIONS): number {
  return FIRST_VERSION + migrations.length;
}

/** Rejects with SchemaTooNew if the data is of a later version than this program knows. */
export async function checkSchema(redis: Redis, migrations: readonly Migration[] = MIGRATIONS): Promise<number | null> {
  const stored = await readSchemaVersion(redis);
  const known = knownSchemaVersion(migrations);
  if (stored !== null && stored > known) throw new SchemaTooNew(stored, known);
  return stored;
}

/**
 * Makes Redis ready to be worked on: migrates older data, and stores the version of the schema. Rejects with SchemaTooNew,
 * or when Redis does not answer or takes no writes; what was migrated until then is kept.
 */
export async function prepareSchema(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<PreparedSchema> {
  const before = await checkSchema(redis, migrations);
  const known = knownSchemaVersion(migrations);
  await redis.set(KEYS.schemaVersion, before ?? known, 'NX');
  // On an empty Redis another process, of another version, may have been first.
  const stored = before ?? (await checkSchema(redis, migrations)) ?? known;
  for (const [at, { migrate }] of migrations.entries()) {
    const version = FIRST_VERSION + at + 1;
    if (version <= stored) continue;
    await migrate(redis);
    await redis.set(KEYS.schemaVersion, version);
  }
  return { before, after: known };
}

async function holdsRecords(redis: Redis): Promise<boolean> {
  const { indexTows, indexViolations, indexDeliveries, tombstones, openTasks, apiKeys, audit, circuits } = KEYS;
  const keys = [indexTows, indexViolations, indexDeliveries, tombstones, openTasks, apiKeys, audit, circuits];
  return (await redis.exists(...keys)) > 0;
}
