import type { Redis } from 'ioredis';
import { KEYS } from '../keys';
import { createProcessStore } from '../processes';
import { recordsOf } from '../records';
import { knownSchema, OLDEST_READER, readUsableSchema } from '../schema';
import { MIGRATIONS, type Migration } from '.';

/** Runs the migrations that the stored data lacks. */

const DONE = 'done';

/** A migration that did not run. */
export interface PendingMigration {
  readonly number: number;
  readonly title: string;
  readonly order: Migration['order'];
  /** True when a run has begun it. */
  readonly isBegun: boolean;
  /** The running processes of an older schema that it must wait for, as `<role> on <host>, version <version>`. */
  readonly waitsFor: readonly string[];
}

/** The migrations that the stored data lacks, in order; none without data. Writes nothing. */
export async function pendingMigrations(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<PendingMigration[]> {
  const stored = await readUsableSchema(redis, migrations);
  if (stored === null) return [];
  const lacking = migrations.filter(({ number }) => number > stored.version);
  return Promise.all(
    lacking.map(async ({ number, title, order }) => ({
      number,
      title,
      order,
      isBegun: (await redis.hexists(KEYS.migrations, String(number))) === 1,
      waitsFor: order === 'after' ? await olderProcesses(redis, number) : [],
    })),
  );
}

/**
 * Which migrations run: all, or only those without which processes of this release do not start. Older processes can
 * start again until the others run.
 */
export type MigrationScope = 'all' | 'to_start';

/** Whether a migration belongs to a scope. One that comes before a needed one is needed as well. */
export function isInScope(
  { number }: Pick<Migration, 'number'>,
  scope: MigrationScope,
  migrations: readonly Migration[] = MIGRATIONS,
): boolean {
  return scope === 'all' || number <= knownSchema(migrations).readsFrom;
}

/**
 * Runs the pending migrations of `scope`, up to one that must wait for processes to end. Resolves with all that remain. A
 * run that was ended continues after its last complete step, and several may run at once. Rejects when Redis does not
 * answer.
 */
export async function migrate(
  redis: Redis,
  migrations: readonly Migration[] = MIGRATIONS,
  scope: MigrationScope = 'all',
): Promise<PendingMigration[]> {
  for (;;) {
    const pending = await pendingMigrations(redis, migrations);
    const next = migrations.find(({ number }) => number === pending[0]?.number);
    if (!next || pending[0]?.waitsFor.length !== 0 || !isInScope(next, scope, migrations)) return pending;
    await limitReaders(redis, next, migrations);
    await complete(redis, next);
  }
}

/** Stores which processes may use the data from now on. Running ones that may not end within seconds. */
async function limitReaders(redis: Redis, { number, order }: Migration, migrations: readonly Migration[]) {
  const { oldestReader = number } = (await readUsableSchema(redis, migrations)) ?? {};
  await redis.hsetnx(KEYS.migrations, OLDEST_READER, oldestReader);
  if (order === 'before' || oldestReader >= number) return;
  // Stale when another run has raised it.
  await recordsOf(redis).commit({
    records: [],
    checks: [{ key: KEYS.migrations, field: OLDEST_READER, value: String(oldestReader) }],
    effects: [['HSET', KEYS.migrations, OLDEST_READER, number]],
  });
}

/** Runs a migration step by step. The step that is stored last also raises the version. */
async function complete(redis: Redis, migration: Migration): Promise<void> {
  const { number } = migration;
  const field = String(number);
  for (;;) {
    const place = (await redis.hget(KEYS.migrations, field)) ?? '';
    if (place === DONE) return;
    const next = await migration.step(redis, place === '' ? null : place.slice(1));
    // Refused as stale when another run has stored this step: then its place counts.
    await recordsOf(redis).commit({
      records: [],
      checks: [{ key: KEYS.migrations, field, value: place }],
      effects:
        next === null
          ? [
              ['HSET', KEYS.migrations, field, DONE],
              ['SET', KEYS.schemaVersion, number],
            ]
          : [['HSET', KEYS.migrations, field, `>${next}`]],
    });
  }
}

async function olderProcesses(redis: Redis, version: number): Promise<string[]> {
  const processes = await createProcessStore(redis).list();
  const older = processes.filter(({ schema, isSilent }) => !isSilent && schema < version);
  return older.map(({ role, hostName, version: release }) => `${role} on ${hostName}, version ${release}`);
}
