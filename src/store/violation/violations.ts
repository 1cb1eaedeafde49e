import type { Redis } from 'ioredis';
import type { Page } from '../../workflow/list-port';
import type { ViolationFilter, ViolationStore } from '../../workflow/ports';
import { asRead, type AsRead } from '../../workflow/outbox/read-record';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { entryOf } from '../../domain/violation/stored-violation';
import { recordsOf } from '../outbox/records';
import type { RateLimit } from '../service/budgets';
import { KEYS, violationKey, violationsInStateKey } from '../keys';
import { unlessUnusable } from '../outbox/readable-records';
import { withPlaces } from '../outbox/permit-places';
import { knownRows, mergedRows, pageOf } from '../outbox/rows';
import { searchRows } from '../outbox/search';
import { decodeViolation } from './violation-fields';

/** The stored violations, for lists and pages. With a rate limit, those that wait for it have their place in its queue. */
export function createViolationStore(redis: Redis, rateLimit?: RateLimit): ViolationStore {
  const readById = async (id: string) => {
    const [fields, nowMs] = await Promise.all([redis.hgetall(violationKey(id)), recordsOf(redis).nowMs()]);
    const stored = decodeViolation(fields);
    return stored && asRead(stored, nowMs);
  };
  const placed = (found: readonly AsRead<StoredViolation>[]) => withPlaces(redis, rateLimit, found);
  const listByIds = async (ids: readonly string[]) => {
    const found = await Promise.all(ids.map((id) => unlessUnusable(readById(id))));
    return placed(found.filter((record) => record !== null));
  };
  return {
    async read(name) {
      const id = await redis.hget(KEYS.violationAliases, name);
      const record = id === null ? null : await readById(id);
      return record && ((await placed([record]))[0] ?? null);
    },

    listByIds,
    list: (filter) => listViolations(redis, filter, listByIds),
  };
}

/** A page of violations, newest first; with a search, in the order of the index entries that match. */
async function listViolations(
  redis: Redis,
  filter: ViolationFilter,
  read: ViolationStore['listByIds'],
): Promise<Page<AsRead<StoredViolation>>> {
  const index = filter.state ? violationsInStateKey(filter.state) : KEYS.indexViolations;
  const rows = filter.search
    ? knownRows(await searchRows(redis, 'violation', filter.search), 'oldest')
    : mergedRows(redis, [index], 'newest');
  const { refs: ids, nextCursor } = await pageOf(rows, filter);
  const found = await read(ids);
  const matches = (record: StoredViolation) => filter.state === null || entryOf(record).state === filter.state;
  return { items: found.filter(matches), nextCursor };
}
