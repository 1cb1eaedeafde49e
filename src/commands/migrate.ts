import type { CommandOutput, LocalCommands } from '../cli';
import { ConfigurationError, loadConfig } from '../platform/config';
import { errorMessage } from '../platform/errors';
import { MIGRATIONS } from '../store/migrations';
import {
  isInScope,
  migrate,
  pendingMigrations,
  type MigrationScope,
  type PendingMigration,
} from '../store/migrations/run';
import { knownSchema, readSchema, SchemaMismatch } from '../store/schema';
import { withRedis } from './with-redis';

/** `pending`: a migration of the scope remains, or the data is of a later release. */
const EXIT = { done: 0, pending: 1, unavailable: 3 } as const;

/**
 * `towhook migrate` runs the pending migrations, or with --check only lists them. What was migrated when Redis fails is
 * kept.
 */
export const migrateData: LocalCommands['migrate'] = async ({ isCheck, isBeforeStart }) => {
  const config = loadConfig();
  const scope = isBeforeStart ? 'to_start' : 'all';
  try {
    return await withRedis(config, async (redis) => {
      const pending = isCheck ? await pendingMigrations(redis) : await migrate(redis, MIGRATIONS, scope);
      return outputOf((await readSchema(redis))?.version ?? null, pending, scope);
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const text = errorMessage(error);
    const exitCode = error instanceof SchemaMismatch ? EXIT.pending : EXIT.unavailable;
    return { json: { problem: text }, lines: [], problems: [text], exitCode };
  }
};

/** `stored` is the schema of the data, null without data. */
function outputOf(stored: number | null, pending: readonly PendingMigration[], scope: MigrationScope): CommandOutput {
  const known = knownSchema().version;
  const data = stored === null ? 'Redis holds no data.' : `The data has schema ${stored}.`;
  const items = pending.flatMap(({ number, title, isBegun, waitsFor }) => [
    `${number}. ${title}: ${isBegun ? 'begun' : 'pending'}`,
    ...waitsFor.map((process) => `   waits for the end of: ${process}`),
  ]);
  return {
    json: {
      known_schema: known,
      stored_schema: stored,
      pending: pending.map(({ number, title, order, isBegun, waitsFor }) => ({
        number,
        title,
        order,
        begun: isBegun,
        waits_for: waitsFor,
      })),
    },
    lines: [
      `${data} This release writes schema ${known}.`,
      ...(items.length === 0 ? ['No migration is pending.'] : items),
    ],
    exitCode: pending.some((each) => isInScope(each, scope)) ? EXIT.pending : EXIT.done,
  };
}
