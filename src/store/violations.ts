import type { Redis } from 'ioredis';
import type { ViolationRecord } from '../contracts/violations';
import type { Page } from '../workflow/ports';
import type { ViolationFilter, ViolationStore } from '../workflow/violation-port';
import { violationRecordOf } from '../workflow/violation-record';
import { KEYS, violationKey, violationsInStateKey } from './keys';
import { search } from './list-tows';
import { newestFirst } from './rows';
import { decodeViolation } from './violation-fields';

/** The violations in Redis, as lists and pages read them. */
export function createViolationStore(redis: Redis): ViolationStore {
  const readById = async (id: string) => {
    const stored = decodeViolation(await redis.hgetall(violationKey(id)));
    return stored && violationRecordOf(stored);
  };
  return {
    async read(name) {
      const id = await redis.hget(KEYS.violationAliases, name);
      return id === null ? null : readById(id);
    },

    list: (filter) => listViolations(redis, filter, readById),
  };
}

/** A page of violations, newest first; with a search, by the words it found them under. */
async function listViolations(
  redis: Redis,
  filter: ViolationFilter,
  read: (id: string) => Promise<ViolationRecord | null>,
): Promise<Page<ViolationRecord>> {
  const index = filter.state ? violationsInStateKey(filter.state) : KEYS.indexViolations;
  const { refs: ids, nextCursor } = filter.search
    ? await search(redis, KEYS.searchViolations, { ...filter, words: filter.search })
    : await newestFirst(redis, index, filter);
  const found = await Promise.all(ids.map(read));
  const isWanted = (record: ViolationRecord) => filter.state === null || record.state === filter.state;
  return { items: found.filter((record) => record !== null).filter(isWanted), nextCursor };
}
