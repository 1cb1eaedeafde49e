import type { Redis } from 'ioredis';
import type { DataKeys } from '../../platform/data-keys';
import { KEYS } from '../keys';

/**
 * Which data keys Redis needs: the hash `data-keys` of key ids and check values, which show nothing of a key. Each
 * process adds the key that it encrypts with; `towhook re-encrypt` removes those that nothing needs any more.
 */

/** A key that this process lacks, or has with another content, so that it cannot decrypt what needs it. */
export interface DataKeyFault {
  readonly id: string;
  readonly fault: 'missing' | 'different';
}

/** Adds the keys that this process encrypts with, unless they are known. */
export async function noteDataKeys(redis: Redis, keys: DataKeys): Promise<void> {
  const known = await redis.hgetall(KEYS.dataKeys);
  for (const [id, check] of keys.currentChecks()) {
    if (known[id] === undefined) await redis.hsetnx(KEYS.dataKeys, id, check);
  }
}

/** The keys whose data a process with these keys cannot decrypt. */
export async function dataKeyFaults(redis: Redis, keys: DataKeys | null): Promise<DataKeyFault[]> {
  const needed = Object.entries(await redis.hgetall(KEYS.dataKeys));
  return needed.flatMap(([id, check]): DataKeyFault[] => {
    const own = keys?.checkOf(id) ?? null;
    if (own === check) return [];
    return [{ id, fault: own === null ? 'missing' : 'different' }];
  });
}

/** The ids of the keys that the data needs. */
export async function neededDataKeys(redis: Redis): Promise<string[]> {
  return Object.keys(await redis.hgetall(KEYS.dataKeys)).toSorted();
}

/** Forgets keys that nothing needs. A process that still encrypts with one adds it again. */
export async function forgetDataKeys(redis: Redis, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await redis.hdel(KEYS.dataKeys, ...ids);
}
