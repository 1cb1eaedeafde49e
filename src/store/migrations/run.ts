import { setTimeout as pause } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { KEYS } from '../keys';
import { createProcessStore } from '../ops/processes';
import { recordsOf } from '../outbox/records';
import { MIGRATED, readUsableSchema } from '../ops/schema';
import { MIGRATIONS, type Migration } from '.';

/** Runs the migrations that the stored data lacks. */

const POLL_MS = 500;

/** A migration that has not run to its end. */
export interface PendingMigration {
  readonly number: number;
  readonly title: string;
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
  const places = await redis.hgetall(KEYS.migrations);
  const isBegun = (number: number) => places[String(number)] !== undefined;
  const isPending = ({ number }: Migration) =>
    number > stored || (number === stored && isBegun(number) && places[String(number)] !== MIGRATED);
  return Promise.all(
    migrations.filter(isPending).map(async ({ number, title }) => ({
      number,
      title,
      isBegun: isBegun(number),
      waitsFor: await olderProcesses(redis, number),
    })),
  );
}

/**
 * Runs the pending migrations. From the beginning of one, processes of an older schema end, which is waited for, and
 * none starts. Resolves with what remains: none, or the one whose older processes still run after `waitMs`. A run that was
 * ended continues after its last complete step, and several may run at once. Rejects when Redis does not answer.
 */
export async function migrate(
  redis: Redis,
  { migrations = MIGRATIONS, waitMs }: { readonly migrations?: readonly Migration[]; readonly waitMs: number },
): Promise<PendingMigration[]> {
  const untilMs = performance.now() + waitMs;
  for (;;) {
    const pending = await pendingMigrations(redis, migrations);
    const next = migrations.find(({ number }) => number === pending[0]?.number);
    if (!next) return pending;
    if (pending[0]?.isBegun === false) await begin(redis, next);
    else if (pending[0]?.waitsFor.length === 0) await complete(redis, next);
    else if (performance.now() >= untilMs) return pending;
    else await pause(POLL_MS);
  }
}

/** Refuses older processes from now on. Running ones notice within seconds. */
async function begin(redis: Redis, { number }: Migration): Promise<void> {
  // Stale when another run has begun it.
  await recordsOf(redis).commit({
    records: [],
    checks: [{ key: KEYS.migrations, field: String(number), value: '' }],
    effects: [
      ['HSET', KEYS.migrations, String(number), PLACE],
      ['SET', KEYS.schemaVersion, number],
    ],
  });
}

/** Before the place at which the next step begins; alone for the first. */
const PLACE = '>';

/** Runs a migration step by step. */
async function complete(redis: Redis, migration: Migration): Promise<void> {
  const field = String(migration.number);
  for (;;) {
    const place = (await redis.hget(KEYS.migrations, field)) ?? PLACE;
    if (place === MIGRATED) return;
    const next = await migration.step(redis, place === PLACE ? null : place.slice(PLACE.length));
    // Refused as stale when another run has stored this step: then its place counts.
    await recordsOf(redis).commit({
      records: [],
      checks: [{ key: KEYS.migrations, field, value: place }],
      effects: [['HSET', KEYS.migrations, field, next === null ? MIGRATED : `${PLACE}${next}`]],
    });
  }
}

async function olderProcesses(redis: Redis, version: number): Promise<string[]> {
  const processes = await createProcessStore(redis).list();
  const older = processes.filter(({ schema, isSilent }) => !isSilent && schema < version);
  return older.map(({ role, hostName, version: release }) => `${role} on ${hostName}, version ${release}`);
}
