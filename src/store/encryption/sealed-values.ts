import type { Redis } from 'ioredis';
import type { DataKeys } from '../../platform/data-keys';
import { RedisConnection } from '../redis/connection';
import { openedAt, placeOf } from './sealed-fields';

/** Seals and opens values that scripts of their own write and read. */

/** The keys that a connection seals and opens with; null: none. */
export function dataKeysOf(redis: Redis): DataKeys | null {
  return redis instanceof RedisConnection ? redis.dataKeys : null;
}

/** The place of a value in Redis; '' is the field of an element of a list. */
interface SealedPlace {
  readonly key: string;
  readonly field: string;
}

/** The stored form of a value: as it is without keys. */
export function sealValue(redis: Redis, { key, field }: SealedPlace, text: string): string {
  return dataKeysOf(redis)?.seal(placeOf(key, field), text) ?? text;
}

/** The value of a stored one. See openedAt for what cannot be opened. */
export function openValue(redis: Redis, { key, field }: SealedPlace, stored: string): string {
  const keys = dataKeysOf(redis);
  return keys === null ? stored : openedAt(keys, placeOf(key, field), stored);
}
