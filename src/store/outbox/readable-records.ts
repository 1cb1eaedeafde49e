import type { Redis } from 'ioredis';
import { DamagedRecord, UnusableRecord } from '../../domain/outbox/unusable-record';
import type { RecordKind } from '../../domain/outbox/outbox-record';
import { errorFacts } from '../../platform/errors';
import { unpackFields, type Fields } from '../redis/packed-fields';
import { requireReadable } from '../redis/at-rest';
import { isTransient } from '../redis/until-answered';

/** Records that this process cannot use, or that are damaged, and what decisions and lists do about them. */

/** All fields of a record, unpacked. @throws UnusableRecord */
export function readableFields(kind: RecordKind | 'delivery', stored: Fields): Fields {
  requireReadable(kind, stored);
  return unpackFields(stored);
}

interface DecodedName {
  readonly kind: RecordKind | 'delivery';
  readonly id: string;
}

/** What `decode` makes of a record, for decisions. @throws UnusableRecord, DamagedRecord */
export function orDamaged<T>(name: DecodedName, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    throw error instanceof UnusableRecord ? error : damaged(name, error);
  }
}

/** The stored fields of a record, for decisions. @throws DamagedRecord when its key is no hash */
export async function fieldsOrDamaged(redis: Redis, key: string, name: DecodedName): Promise<Fields> {
  try {
    return await redis.hgetall(key);
  } catch (error) {
    throw error instanceof Error && error.message.startsWith('WRONGTYPE') ? damaged(name, error) : error;
  }
}

function damaged({ kind, id }: DecodedName, error: unknown): DamagedRecord {
  return new DamagedRecord(`the ${kind} ${id} cannot be decoded: ${String(errorFacts(error)['error'])}`, id);
}

/**
 * For lists: null in place of a record that this process cannot use, and of a damaged one, which the conservation check
 * names. Rejects while Redis does not answer.
 */
export async function unlessUnusable<T>(reading: Promise<T>): Promise<T | null> {
  return reading.catch((error: unknown) => {
    if (isTransient(error)) throw error;
    return null;
  });
}
