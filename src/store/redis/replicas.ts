import type { Redis } from 'ioredis';
import { RedisConnection } from './connection';
import { KEYS } from '../keys';

/**
 * Replication in Redis is asynchronous: a master that dies takes with it what its replicas do not have yet. With
 * REDIS_MIN_REPLICAS a write is acknowledged to the outside only when that many replicas have it in memory.
 */

/** How long replicas may take to confirm a write, ms. Less than the time limit of a command. */
const CONFIRM_MS = 500;
/** The same for the question whether there are enough replicas, which holds up other commands. */
const PRESENT_MS = 100;

/**
 * The write is done on the master, and it is unknown whether a failover would keep it. Repeating it is as safe as after a
 * lost reply.
 */
export class NotReplicated extends Error {
  override readonly name = 'NotReplicated';

  constructor(confirmed: number, wanted: number) {
    super(`${confirmed} of ${wanted} replicas (REDIS_MIN_REPLICAS) have confirmed the write in time`);
  }
}

/**
 * Runs a call and resolves with its result when enough replicas have all that it has written or read. Without
 * REDIS_MIN_REPLICAS it does nothing more.
 *
 * @throws NotReplicated when they do not confirm in time, or the connection changed meanwhile.
 */
export async function replicated<T>(redis: Redis, call: () => Promise<T>): Promise<T> {
  const wanted = minReplicasOf(redis);
  if (wanted === 0) return call();
  const socket = socketOf(redis);
  const result = await call();
  // WAIT covers what its connection has written last. A repeated call may find its work done, and write nothing; the
  // event goes to the replicas behind all earlier writes.
  const replies = await redis.pipeline().publish(KEYS.replicas, '').wait(wanted, CONFIRM_MS).exec();
  const [, waited] = replies ?? [];
  const confirmed = replies?.some(([error]) => error) === false ? Number(waited?.[1]) : 0;
  // Behind another socket may be a server that took over without the write.
  if (confirmed < wanted || socketOf(redis) !== socket) throw new NotReplicated(confirmed, wanted);
  return result;
}

/**
 * Waits for a write that nothing is acknowledged for and that must not be repeated, such as a count: it is done even if
 * replicas do not confirm it in time. A commit that was stale then is lost.
 */
export async function ignoreUnconfirmed(write: Promise<void>): Promise<void> {
  try {
    await write;
  } catch (error) {
    if (!(error instanceof NotReplicated)) throw error;
  }
}

/** Whether the master has as many replicas in step as REDIS_MIN_REPLICAS asks for. Rejects when it does not answer. */
export async function hasReplicas(redis: Redis): Promise<boolean> {
  const wanted = minReplicasOf(redis);
  return wanted === 0 || (await redis.wait(wanted, PRESENT_MS)) >= wanted;
}

function minReplicasOf(redis: Redis): number {
  return redis instanceof RedisConnection ? redis.minReplicas : 0;
}

function socketOf(redis: Redis): object | undefined {
  return redis instanceof RedisConnection ? redis.socket : undefined;
}
