import { ConfigurationError } from '../platform/config/config';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { throwUnhandled } from '../platform/process';
import { repeat, type Repetition } from '../platform/timers';
import { UnexpectedReply } from '../store/redis/parse';
import { checkSchema, isSchemaStored, prepareSchema, RestoreUnfinished, SchemaMismatch } from '../store/ops/schema';
import { isCluster } from '../store/redis/redis-settings';
import { createSpoolMarker } from '../store/ops/spool-marker';
import type { Foundation } from './foundation';

const EVERY_MS = 5000;

/** Whether this process has seen a stored version: when it is gone later, Redis was emptied. */
export interface SeenSchema {
  isStored: boolean;
}

/**
 * Stores the schema version.
 *
 * @throws ConfigurationError for data that this version must not use, and for a Redis Cluster.
 */
export async function checkSchemaOf(redis: Foundation['redis'], log: Log, seen: SeenSchema): Promise<void> {
  if (await isCluster(redis).catch(() => false)) {
    const rule = 'points to a Redis Cluster, which towhook cannot use: use one Redis, with Sentinels for a failover';
    throw new ConfigurationError([{ variable: 'REDIS_URL', rule }]);
  }
  try {
    await prepareSchema(redis);
    seen.isStored = true;
  } catch (error) {
    if (error instanceof RestoreUnfinished) throw unusable(`now: ${error.message}`);
    if (error instanceof SchemaMismatch || error instanceof UnexpectedReply) throw mismatch(error);
    // A replica or a full Redis refuses the write; the next process that starts stores the version.
    log.warn('redis.schema_not_stored', { ...errorFacts(error), stack: undefined });
  }
}

/**
 * Ends the process, as an unhandled failure does, when a migration makes the data unusable for this version. When the
 * version is gone, Redis was emptied: raises the alarm about missing records, and stores the version again.
 */
export function watchSchema(
  { redis, clock, log }: Pick<Foundation, 'redis' | 'clock' | 'log'>,
  seen: SeenSchema,
): Repetition {
  const work = async () => {
    await endOnMismatch(redis);
    const isStored = await isSchemaStored(redis);
    if (seen.isStored && !isStored) await noteEmptied(redis, { clock, log });
    seen.isStored ||= isStored;
  };
  // The start has checked it.
  return repeat({ name: 'schema', everyMs: EVERY_MS, firstAfterMs: EVERY_MS, log, work });
}

async function noteEmptied(
  redis: Foundation['redis'],
  { clock, log }: Pick<Foundation, 'clock' | 'log'>,
): Promise<void> {
  log.error('redis.emptied', {
    problem:
      'Redis was emptied while this process ran, or restarted without its data: load the backup of Redis; if the records are gone for good: towhook doctor --adopt-disk',
  });
  await createSpoolMarker(redis).raise(clock.nowMs());
  await prepareSchema(redis);
}

async function endOnMismatch(redis: Foundation['redis']): Promise<void> {
  try {
    await checkSchema(redis);
  } catch (error) {
    if (!(error instanceof SchemaMismatch)) throw error;
    throwUnhandled(mismatch(error));
  }
}

function mismatch({ message }: Error): ConfigurationError {
  return unusable(`by this version: ${message}`);
}

function unusable(why: string): ConfigurationError {
  return new ConfigurationError([{ variable: 'REDIS_URL', rule: `cannot be used ${why}` }]);
}
