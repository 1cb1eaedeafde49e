import { BackupProblem } from '../cli';
import { openExisting } from '../embedded-redis/start';
import type { Clock } from '../platform/clock';
import { ConfigurationError, loadConfig, type Config } from '../platform/config/config';
import { openDataKeys } from '../platform/data-keys';
import { errorMessage } from '../platform/errors';
import { silentLog, type Log } from '../platform/log/log';
import { createResources, type Resources } from '../platform/resources';
import type { Environment } from '../platform/config/variable-rules';
import { openAccess } from '../store/redis/access';
import { RestoreUnfinished } from '../store/ops/schema';
import {
  connectForCommandLine,
  connectPatient,
  READY_TIMEOUT_MS,
  whenReady,
  type Redis,
  type Server,
} from '../store/redis/connect';

/** The installation of the environment, as a command sees it. */
export interface OpenedInstallation {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  /** Closed when the command ends. */
  readonly resources: Resources;
}

export interface InstallationOptions {
  readonly clock: Clock;
  /** That of the process by default. */
  readonly environment?: Environment | undefined;
}

/** Runs a command, and closes what it opened. @throws ConfigurationError, BackupProblem */
export async function withInstallation<T>(
  { clock, environment }: InstallationOptions,
  work: (installation: OpenedInstallation) => Promise<T>,
): Promise<T> {
  const config = loadConfig(environment);
  const resources = createResources(silentLog);
  try {
    return await work({ config, clock, log: silentLog, resources });
  } catch (error) {
    throw error instanceof RestoreUnfinished ? redisUnfinished() : error;
  } finally {
    await resources.closeAll();
  }
}

function redisUnfinished(): BackupProblem {
  return new BackupProblem(
    'redis_restore_unfinished',
    'A restore into the Redis of the environment is running or was interrupted.',
    'Wait until it ends. If it was interrupted, empty that Redis, with FLUSHDB if no other installation uses it, and restore again.',
  );
}

/** How the Redis of the installation is reached. The embedded one is started only if it has data. */
export async function liveRedis(installation: OpenedInstallation): Promise<Server> {
  const { config } = installation;
  const found = config.redis.url ?? openExisting(config, installation);
  const url = await Promise.resolve(found).catch((error: unknown) => {
    throw new BackupProblem('no_redis', errorMessage(error));
  });
  return openAccess(config.redis, url, openDataKeys(config));
}

/** Opens a connection: `fail fast` for short commands, `patient` for long ones. @throws BackupProblem, ConfigurationError */
export async function openRedis(
  server: Server,
  { resources, log }: Pick<OpenedInstallation, 'resources' | 'log'>,
  kind: 'fail fast' | 'patient' = 'fail fast',
): Promise<Redis> {
  const connect = kind === 'patient' ? connectPatient : connectForCommandLine;
  const redis = resources.add('redis', connect(server, { log }), (connection) => connection.disconnect());
  try {
    await whenReady(redis, READY_TIMEOUT_MS);
  } catch (error) {
    if (error instanceof ConfigurationError) throw error;
    throw new BackupProblem('redis_unreachable', errorMessage(error), 'Run `towhook doctor`.');
  }
  return redis;
}
