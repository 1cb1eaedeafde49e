import type { Redis } from 'ioredis';
import { repliesOf } from '../redis/batch-reads';
import { KEYS, PARTITION } from '../keys';
import { UnexpectedReply } from '../redis/parse';
import { BEING_RESTORED } from './schema';

const KEYS_PER_STEP = 200;

/**
 * Not copied: the version that ends the copy, the epoch, since the copy has another history from now on, and processes,
 * which do not use the copy and would be shown as silent.
 */
const NOT_COPIED: ReadonlySet<string> = new Set([KEYS.schemaVersion, KEYS.epoch, KEYS.processes, KEYS.heartbeats]);

/** The number of keys of this installation, counted no further than to `limit`. */
export async function keysUpTo(limit: number, redis: Redis): Promise<number> {
  let [cursor, count] = ['0', 0];
  do {
    const [next, names] = await redis.scan(cursor, 'MATCH', `${PARTITION}:*`, 'COUNT', KEYS_PER_STEP);
    count += names.length;
    cursor = next;
  } while (cursor !== '0' && count < limit);
  return count;
}

/**
 * Takes a Redis without data of this installation as the target of one copy; `id` names the copy. False when it holds data
 * or another copy has taken it. Until `endCopy` or `releaseTarget` no role starts on it, also when this process is killed.
 */
export async function takeTarget(to: Redis, id: string): Promise<boolean> {
  // A process that finds it in place of a version ends with exit code 2.
  const marker = `${BEING_RESTORED}${id}`;
  // The connection may repeat the command after a lost reply, so the stored value decides, and not the reply.
  await to.set(KEYS.schemaVersion, marker, 'NX');
  if ((await to.get(KEYS.schemaVersion)) !== marker) return false;
  if ((await keysUpTo(2, to)) === 1) return true;
  await releaseTarget(to);
  return false;
}

/** Gives a target back to which nothing was copied. */
export async function releaseTarget(to: Redis): Promise<void> {
  await to.del(KEYS.schemaVersion);
}

/**
 * Copies all keys of towhook but its processes from a Redis in which nothing changes to one that `takeTarget` has taken,
 * with their lifetimes. Returns the number of keys.
 *
 * @throws the error of Redis, such as for the format of a later Redis, or out of memory.
 */
export async function copyData(from: Redis, to: Redis): Promise<number> {
  let copied = 0;
  let cursor = '0';
  do {
    const [next, names] = await from.scanBuffer(cursor, 'MATCH', `${PARTITION}:*`, 'COUNT', KEYS_PER_STEP);
    const keys = names.filter((name) => !NOT_COPIED.has(name.toString()));
    if (keys.length > 0) await copyKeys(keys, from, to);
    copied += keys.length;
    cursor = next.toString();
  } while (cursor !== '0');
  return copied;
}

/** Lets roles start on the copy. */
export async function endCopy(from: Redis, to: Redis): Promise<void> {
  const version = await from.get(KEYS.schemaVersion);
  if (version === null) throw new UnexpectedReply('the version of the schema');
  await to.set(KEYS.schemaVersion, version);
}

async function copyKeys(keys: readonly Buffer[], from: Redis, to: Redis): Promise<void> {
  const reading = from.pipeline();
  for (const key of keys) reading.pttl(key).dumpBuffer(key);
  const replies = await repliesOf(reading);
  const writing = to.pipeline();
  for (const [at, key] of keys.entries()) {
    const [lifetimeMs, value] = replies.slice(2 * at, 2 * at + 2);
    // It expired between the scan and now.
    if (value === null) continue;
    if (!Buffer.isBuffer(value)) throw new UnexpectedReply('DUMP');
    // A connection that breaks repeats the command.
    writing.restore(key, restoredLifetimeMs(Number(lifetimeMs)), value, 'REPLACE');
  }
  await repliesOf(writing);
}

/** The lifetime for RESTORE, where 0 is none, from that of PTTL, where 0 is the last millisecond and -1 is none. */
export function restoredLifetimeMs(leftMs: number): number {
  return leftMs < 0 ? 0 : Math.max(1, leftMs);
}
