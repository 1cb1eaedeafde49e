import { Redis, ReplyError } from 'ioredis';
import { errorFacts, type Log } from '../platform/log';
import { KEYS } from './keys';

/**
 * Connections to Redis, each for one purpose (stack-facts 3 and 7): a write that may have reached Redis is never sent
 * again behind our back, and a Redis that does not answer is noticed.
 */

export interface ConnectionTools {
  /** Throttled: while Redis is away every try to connect fails. */
  readonly log: Log;
}

/**
 * A connection that ends a socket once. After a failover every command under way is answered READONLY, often many in one
 * piece, and ioredis would end the same socket, with a timer and a listener of its own, for each of them.
 */
class Connection extends Redis {
  private readonly left = new WeakSet<object>();
  /** Whether the last that was heard of Redis is that it is a replica. Between two sockets there is nothing else to go by. */
  wasReplica = false;

  override disconnect(reconnect = false): void {
    if (reconnect && this.stream) {
      if (this.left.has(this.stream)) return;
      this.left.add(this.stream);
    }
    super.disconnect(reconnect);
  }
}

/** Sends fail at once while Redis cannot be reached, and are never repeated by the client. */
export function connectFailFast(url: string, tools: ConnectionTools): Redis {
  const connection = new Connection(url, {
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    commandTimeout: 800,
    connectTimeout: 1000,
    socketTimeout: 1500,
    retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
    // A replica that was a master: reconnect, but do not repeat the command.
    reconnectOnError: (error) => {
      if (!error.message.startsWith('READONLY')) return false;
      connection.wasReplica = true;
      return 1;
    },
  });
  return watched(connection, tools);
}

/** For blocking reads of queue workers and subscriptions: waits for Redis to come back, without a command timeout. */
export function connectPatient(url: string, tools: ConnectionTools): Redis {
  return watched(
    new Connection(url, {
      maxRetriesPerRequest: null,
      // Longer than a blocking read takes; without it a connection that died without a word waits for ever.
      socketTimeout: 15_000,
      retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
      reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 2 : false),
    }),
    tools,
  );
}

/** Resolves when the connection can take commands, or rejects after `timeoutMs` with what went wrong last. */
export async function whenReady(redis: Redis, timeoutMs: number): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    let lastProblem: Error | null = null;
    const onError = (error: Error) => {
      // What once spoke another protocol says most of all; a connection that then breaks off says nothing new.
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
      const why = lastProblem?.message ?? 'no answer';
      reject(new Error(`Redis cannot be reached (REDIS_URL): ${why}`, { cause: lastProblem }));
    }, timeoutMs);
    redis.on('ready', onReady).on('error', onError);
  });
}

/**
 * Whether Redis can be worked with: it answers, and takes what is to be written. A replica refuses writes, and so does a
 * server that is out of memory, cannot save, or misses the replicas it must have.
 */
export async function writability(redis: Redis): Promise<'writable' | 'refuses_writes' | 'unreachable'> {
  try {
    // Redis refuses this like every write. The list is never there, so nothing changes and nothing is synced to the disk.
    await redis.lpushx(KEYS.writeProbe, '');
    if (redis instanceof Connection) redis.wasReplica = false;
    return 'writable';
  } catch (error) {
    const refuses = isReply(error) || (redis instanceof Connection && redis.wasReplica);
    return refuses ? 'refuses_writes' : 'unreachable';
  }
}

/** Whether what answered is no Redis: the client library has no other word for bytes that are not of its protocol. */
export function isForeignProtocol(error: Error): boolean {
  return /RESP type|Protocol error/.test(error.message);
}

/** Whether Redis itself said no. */
export function isReply(error: unknown): boolean {
  return error instanceof ReplyError;
}

/** An ioredis client without an error listener ends the process. */
function watched(redis: Connection, { log }: ConnectionTools): Redis {
  redis.on('error', (error: Error) => {
    redis.wasReplica = false;
    log.error('redis.failed', { ...errorFacts(error), stack: undefined });
  });
  return redis;
}
