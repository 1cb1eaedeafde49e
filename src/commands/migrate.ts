import type { CommandOutput, LocalCommands } from '../cli';
import { ConfigurationError, loadConfig } from '../platform/config/config';
import { errorMessage } from '../platform/errors';
import { migrate, pendingMigrations, type PendingMigration } from '../store/migrations/run';
import { knownSchema, readSchema, SchemaMismatch } from '../store/ops/schema';
import { withRedis } from './with-redis';

/** How long processes of the earlier release may take to end: they notice within 5 s, and complete what they do. */
const WAIT_MS = 90_000;
/** `pending`: a migration remains, or the data is of a later release. */
const EXIT = { done: 0, pending: 1, unavailable: 3 } as const;

/**
 * `towhook migrate` runs the pending migrations, or with --check only lists them. What was migrated when Redis fails is
 * kept.
 */
export const migrateData: LocalCommands['migrate'] = async ({ isCheck }) => {
  const config = loadConfig();
  try {
    return await withRedis(config, async (redis) => {
      const pending = isCheck ? await pendingMigrations(redis) : await migrate(redis, { waitMs: WAIT_MS });
      return outputOf(await readSchema(redis), pending);
    });
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    const text = errorMessage(error);
    const exitCode = error instanceof SchemaMismatch ? EXIT.pending : EXIT.unavailable;
    return { json: { problem: text }, lines: [], problems: [text], exitCode };
  }
};

/** `stored` is the schema of the data, null without data. */
function outputOf(stored: number | null, pending: readonly PendingMigration[]): CommandOutput {
  const known = knownSchema();
  const data = stored === null ? 'Redis holds no data.' : `The data has schema ${stored}.`;
  const items = pending.flatMap(({ number, title, isBegun, waitsFor }) => [
    `${number}. ${title}: ${isBegun ? 'begun' : 'pending'}`,
    ...waitsFor.map((process) => `   waits for the end of: ${process}`),
  ]);
  return {
    json: {
      known_schema: known,
      stored_schema: stored,
      pending: pending.map(({ number, title, isBegun, waitsFor }) => ({
        number,
        title,
        begun: isBegun,
        waits_for: waitsFor,
      })),
    },
    lines: [
      `${data} This release has schema ${known}.`,
      ...(items.length === 0 ? ['No migration is pending.'] : items),
    ],
    exitCode: pending.length > 0 ? EXIT.pending : EXIT.done,
  };
}
