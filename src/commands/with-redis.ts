import { openExisting } from '../embedded-redis/start';
import { systemClock } from '../platform/clock';
import type { Config } from '../platform/config/config';
import { type DataKeys, openDataKeys } from '../platform/data-keys';
import { silentLog } from '../platform/log/log';
import { createResources } from '../platform/resources';
import { openAccess } from '../store/redis/access';
import { connectForCommandLine, READY_TIMEOUT_MS, type Redis, whenReady } from '../store/redis/connect';

/**
 * Runs a command with a connection to the Redis of the installation, and closes what it opened. The embedded Redis is
 * started only if it has data. Rejects when Redis cannot be reached. Opens the data keys, unless the command has.
 *
 * @throws ConfigurationError
 */
export async function withRedis<T>(
  config: Config,
  work: (redis: Redis, keys: DataKeys | null) => Promise<T>,
  opened?: DataKeys,
): Promise<T> {
  const tools = { log: silentLog, clock: systemClock, resources: createResources(silentLog) };
  const { resources } = tools;
  try {
    const url = config.redis.url ?? (await openExisting(config, tools));
    const keys = opened ?? openDataKeys(config);
    const access = openAccess(config.redis, url, keys);
    const redis = resources.add('redis', connectForCommandLine(access, tools), (connection) => connection.disconnect());
    await whenReady(redis, READY_TIMEOUT_MS);
    return await work(redis, keys);
  } finally {
    await resources.closeAll();
  }
}

/** Exit codes of commands that check what is stored. */
export const CHECK_EXIT = { intact: 0, broken: 1, notChecked: 2, unreachable: 3 } as const;
