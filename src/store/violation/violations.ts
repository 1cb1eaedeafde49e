import type { Redis } from 'ioredis';
import type { Page } from '../../workflow/list-port';
import type { ViolationFilter, ViolationStore } from '../../workflow/ports';
import { violationReadModelOf, type ViolationReadModel } from '../../workflow/tow/read-models';
import type { RateLimit } from '../service/budgets';
import { KEYS, violationKey, violationsInStateKey } from '../keys';
import { unlessUnusable } from '../outbox/readable-records';
import { permitPlaces } from '../outbox/permit-places';
import { knownRows, mergedRows, pageOf } from '../outbox/rows';
import { searchRows } from '../outbox/search';
import { decodeViolation } from './violation-fields';

/** The stored violations, for lists and pages. With a rate limit, those that wait for it have their place in its queue. */
export function createViolationStore(redis: Redis, rateLimit?: RateLimit): ViolationStore {
  const readById = async (id: string) => {
    const stored = decodeViolation(await redis.hgetall(violationKey(id)));
    const record = stored && violationReadModelOf(stored);
    if (record?.waitsFor !== 'budget' || !rateLimit) return record;
    const places = await permitPlaces(redis, 'violation', rateLimit, [id]);
    const queue = places.get(id);
    return queue ? { ...record, queue, nextAtMs: queue.leavesAtMs } : record;
  };
  const listByIds = async (ids: readonly string[]): Promise<ViolationReadModel[]> => {
    const found = await Promise.all(ids.map((id) => unlessUnusable(readById(id))));
    return found.filter((record) => record !== null);
  };
  return {
    async read(name) {
      const id = await redis.hget(KEYS.violationAliases, name);
      return id === null ? null : readById(id);
    },

    listByIds,
    list: (filter) => listViolations(redis, filter, listByIds),
  };
}

/** A page of violations, newest first; with a search, in the order of the index entries that match. */
async function listViolations(
  redis: Redis,
  filter: ViolationFilter,
  read: (ids: readonly string[]) => Promise<ViolationReadModel[]>,
): Promise<Page<ViolationReadModel>> {
  const index = filter.state ? violationsInStateKey(filter.state) : KEYS.indexViolations;
  const rows = filter.search
    ? knownRows(await searchRows(redis, 'violation', filter.search), 'oldest')
    : mergedRows(redis, [index], 'newest');
  const { refs: ids, nextCursor } = await pageOf(rows, filter);
  const found = await read(ids);
  const matches = (record: ViolationReadModel) => filter.state === null || record.state === filter.state;
  return { items: found.filter(matches), nextCursor };
}
