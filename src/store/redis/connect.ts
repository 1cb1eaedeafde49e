import { createHash } from 'node:crypto';
import { ReplyError, type Redis } from 'ioredis';
import { errorFacts, errorMessage } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import { optionsOf, type RedisAccess } from './access';
import { DatabaseRefused, RedisConnection } from './connection';
import { KEYS } from '../keys';
import { hasReplicas } from './replicas';

/** For the layers above, which do not import the library. */
export type { Redis };

/**
 * Connections to Redis. The client never repeats a write that may have reached Redis, and a Redis that does not answer
 * is detected.
 */

export interface ConnectionTools {
  /** Throttled: every connection attempt fails while Redis is away. */
  readonly log: Log;
}

/** An access, or the address of a server that needs nothing else. */
export type Server = RedisAccess | string;

/** The error of a write that a replica refuses; Redis 6.2 adds a prefix to that of a script. */
const IS_REPLICA = /(?:^|-)READONLY /;

/** Commands reject at once while Redis cannot be reached. The client never repeats them. */
export function connectFailFast(server: Server, tools: ConnectionTools): Redis {
  return connectWithin({ commandTimeout: 800, socketTimeout: 1500 }, server, tools);
}

/** As `connectFailFast`, but with more time for an answer: a slow moment must not end a command line. */
export function connectForCommandLine(server: Server, tools: ConnectionTools): Redis {
  return connectWithin({ commandTimeout: READY_TIMEOUT_MS, socketTimeout: 1.5 * READY_TIMEOUT_MS }, server, tools);
}

function connectWithin(
  limits: { readonly commandTimeout: number; readonly socketTimeout: number },
  server: Server,
  tools: ConnectionTools,
): Redis {
  const connection = new RedisConnection(urlOf(server), {
    ...ownOptions(server),
    ...limits,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: 1000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
    // The server has become a replica: reconnect, but do not repeat the command.
    reconnectOnError: (error) => {
      if (!IS_REPLICA.test(error.message)) return false;
      connection.wasReplica = true;
      return 1;
    },
  });
  connection.minReplicas = typeof server === 'string' ? 0 : server.minReplicas;
  return watched(withDataKeys(connection, server), tools);
}

/** For blocking reads and subscriptions: waits for Redis to come back, without a command timeout. */
export function connectPatient(server: Server, tools: ConnectionTools): Redis {
  const connection = new RedisConnection(urlOf(server), {
    ...ownOptions(server),
    maxRetriesPerRequest: null,
    // Longer than a blocking read takes. Without it, a connection that broke silently would wait forever.
    socketTimeout: 20_000,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
    reconnectOnError: (error) => (IS_REPLICA.test(error.message) ? 2 : false),
  });
  return watched(withDataKeys(connection, server), tools);
}

/** How long a command or a starting process waits for Redis. */
export const READY_TIMEOUT_MS = 5000;

/** Redis did not take commands in time; the cause is the last error of the connection. */
export class RedisUnreachable extends Error {
  constructor(cause: Error | null) {
    super(`Redis cannot be reached (REDIS_URL): ${cause?.message ?? 'no answer'}`, { cause });
  }
}

/**
 * Resolves when the connection takes commands. Rejects with RedisUnreachable after `timeoutMs`, and at once with
 * DatabaseRefused.
 */
export async function whenReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    let lastProblem: Error | null = null;
    const onError = (error: Error) => {
      if (error instanceof DatabaseRefused) {
        done();
        reject(error);
      }
      // A foreign protocol is the most useful error: the disconnect that follows it must not replace it.
      if (lastProblem === null || !isForeignProtocol(lastProblem)) lastProblem = error;
    };
    const done = () => {
      clearTimeout(timer);
      redis.off('ready', onReady).off('error', onError);
    };
    const onReady = () => {
      done();
      resolve();
    };
    const timer = setTimeout(() => {
      done();
      reject(new RedisUnreachable(lastProblem));
    }, timeoutMs);
    redis.on('ready', onReady).on('error', onError);
  });
}

/** Does nothing. */
const NO_OP = 'return 1';
const NO_OP_SHA = createHash('sha1').update(NO_OP).digest('hex');

/** Tries a write and a script, and changes nothing. Rejects with the error of Redis. */
export async function tryCommands(redis: Redis): Promise<void> {
  await Promise.all([
    // Redis refuses this like every write. The list never exists, so nothing is changed or synced to the disk.
    redis.lpushx(KEYS.writeProbe, ''),
    // Nearly every record is written by a script, and a user may lack either command.
    redis.eval(NO_OP, 0),
    redis.evalsha(NO_OP_SHA, 0),
  ]);
}

/** The command that Redis does not let its user run; null for another error. */
export function deniedCommand(error: unknown): string | null {
  return /^NOPERM .*run the '([^']+)' command/.exec(errorMessage(error))?.[1] ?? null;
}

/**
 * Whether Redis answers and takes writes. A replica refuses writes, and so does a server that is out of memory, cannot
 * save, or lacks its required replicas. `lacks_permission`: its user may not write or run scripts.
 */
export async function writability(
  redis: Redis,
): Promise<'writable' | 'refuses_writes' | 'lacks_permission' | 'unreachable'> {
  try {
    await tryCommands(redis);
    if (redis instanceof RedisConnection) redis.wasReplica = false;
    return (await hasReplicas(redis)) ? 'writable' : 'refuses_writes';
  } catch (error) {
    if (deniedCommand(error) !== null) return 'lacks_permission';
    const refuses = isReply(error) || (redis instanceof RedisConnection && redis.wasReplica);
    return refuses ? 'refuses_writes' : 'unreachable';
  }
}

/** True if the server does not speak the Redis protocol. The client library shows it only in the message. */
export function isForeignProtocol(error: Error): boolean {
  return /RESP type|Protocol error/.test(error.message);
}

/** True for an error that Redis has replied. */
export function isReply(error: unknown): boolean {
  return error instanceof ReplyError;
}

function withDataKeys(connection: RedisConnection, server: Server): RedisConnection {
  connection.dataKeys = typeof server === 'string' ? null : server.dataKeys;
  return connection;
}

function urlOf(server: Server): string {
  return typeof server === 'string' ? server : server.url;
}

function ownOptions(server: Server) {
  // The name and version of the client library interest no one, and would need a permission.
  return { disableClientInfo: true, ...(typeof server === 'string' ? {} : optionsOf(server)) };
}

/** Adds an error listener, without which an ioredis client ends the process, and leaves a server that is demoted. */
function watched(redis: RedisConnection, { log }: ConnectionTools): Redis {
  redis.on('error', (error: Error) => {
    redis.wasReplica = false;
    log.error('redis.failed', { ...errorFacts(error), stack: undefined });
  });
  let everyMs = ROLE_EVERY_MS;
  redis.on('ready', () => {
    const { socket } = redis;
    const look = async () => {
      if (redis.socket !== socket) return;
      const role = await roleOf(redis);
      if (role === 'refused' || redis.socket !== socket) return;
      // Behind the address may be no other server than the replica: it is left less and less often.
      everyMs = role === 'replica' ? Math.min(2 * everyMs, ROLE_EVERY_MAX_MS) : ROLE_EVERY_MS;
      if (role !== 'replica') return void lookLater();
      redis.wasReplica = true;
      redis.disconnect(true);
    };
    const lookLater = () => setTimeout(() => void look(), everyMs).unref();
    lookLater();
  });
  return redis;
}

/** How often a connection asks its server for its role, ms. */
const ROLE_EVERY_MS = 10_000;
const ROLE_EVERY_MAX_MS = 60_000;

/**
 * The role of the server. A master that is demoted keeps the sockets of subscribers and readers, who never meet READONLY.
 * `refused`: the user may not ask. `unknown`: no answer, or a subscriber of a server without RESP3.
 */
async function roleOf(redis: Redis): Promise<'master' | 'replica' | 'refused' | 'unknown'> {
  try {
    return isReplica(await redis.info('replication')) ? 'replica' : 'master';
  } catch (error) {
    return deniedCommand(error) === null ? 'unknown' : 'refused';
  }
}

/** Whether the section `replication` of what Redis reports about itself is that of a replica. */
export function isReplica(replication: string): boolean {
  return /^role:slave/m.test(replication);
}
