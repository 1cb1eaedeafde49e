import { Redis } from 'ioredis';
import type { Clock } from '../platform/clock';
import { errorFacts, type Log } from '../platform/log';

/**
 * Connections to Redis, each for one purpose (stack-facts 3 and 7): a write that may have reached Redis is never sent
 * again behind our back, and a Redis that does not answer is noticed.
 */

export interface ConnectionTools {
  readonly log: Log;
  readonly clock: Clock;
}

/** Sends fail at once while Redis cannot be reached, and are never repeated by the client. */
export function connectFailFast(url: string, tools: ConnectionTools): Redis {
  return watched(
    new Redis(url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      commandTimeout: 800,
      connectTimeout: 1000,
      socketTimeout: 1500,
      retryStrategy: (attempt) => Math.min(50 * 2 ** attempt, 1000),
      // A replica that was a master: reconnect, but do not repeat the command.
      reconnectOnError: (error) => (error.message.startsWith('READONLY') ? 1 : false),
    }),
    tools,
  );
}

/** For blocking reads of queue workers and subscriptions: waits for Redis to come back, without a command timeout. */
export function connectPatient(url: string, tools: ConnectionTools): Redis {
  return watched(
    new Redis(url, {
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
    let lastProblem = 'no answer';
    const onError = (error: Error) => {
      lastProblem = error.message;
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
      reject(new Error(`Redis cannot be reached (REDIS_URL): ${lastProblem}`));
    }, timeoutMs);
    redis.on('ready', onReady).on('error', onError);
  });
}

const REPEAT_LOG_AFTER_MS = 10_000;

/** An ioredis client without an error listener ends the process; while Redis is down one line in ten seconds is enough. */
function watched(redis: Redis, { log, clock }: ConnectionTools): Redis {
  let quietUntil = 0;
  redis.on('error', (error: Error) => {
    if (clock.monotonicMs() < quietUntil) return;
    quietUntil = clock.monotonicMs() + REPEAT_LOG_AFTER_MS;
    log.error('redis.failed', { ...errorFacts(error), stack: undefined });
  });
  return redis;
}
