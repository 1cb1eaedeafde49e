import type { Redis } from 'ioredis';
import type { TowCounts } from '../../contracts/operator';
import type { TowStore } from '../../workflow/ports';
import { asRead, type AsRead } from '../../workflow/outbox/read-record';
import type { RateLimit } from '../service/budgets';
import { crewsKey, towKey, KEYS, towsInStateKey, towsOfCrewKey, unsentTowsKey } from '../keys';
import { unlessUnusable } from '../outbox/readable-records';
import { withPlaces } from '../outbox/permit-places';
import { recordsOf } from '../outbox/records';
import { redisTimeMs } from '../redis/redis-time';
import { byBytes, knownRows, mergedRows, pageOf, type ListRow, type Rows } from '../outbox/rows';
import { MEMBERS_PER_READ, searchRows } from '../outbox/search';
import { decodeTow } from './tow-fields';
import type { SortOrder } from '../../contracts/paging';
import type { OverdueAfter } from '../../domain/outbox/overdue';
import { isKnown, type KnownTow } from '../../domain/tow/stored-tow';
import { visibleText } from '../../domain/entered-text';
import { TOW_STATES } from '../../domain/vocabulary';
import { matchesFilter, type Page, type TowFilter } from '../../workflow/list-port';
import { countOverdue } from './count-overdue';
import { keptBy, overdueLimits, type OverdueLimits } from './tow-filter';

/**
 * The stored tows, for lists and pages. With a rate limit, reports that wait for it have their place in its queue.
 */
export function createTowStore(redis: Redis, rateLimit?: RateLimit): TowStore {
  const records = recordsOf(redis);
  const readByRef = async (ref: string) => {
    const [fields, nowMs] = await Promise.all([redis.hgetall(towKey(ref)), records.nowMs()]);
    const stored = decodeTow(ref, fields);
    return isKnown(stored) ? asRead(stored, nowMs) : null;
  };
  const placed = (found: readonly AsRead<KnownTow>[]) => withPlaces(redis, rateLimit, found);
  const listByRefs = async (refs: readonly string[]) => {
    const found = await Promise.all(refs.map((ref) => unlessUnusable(readByRef(ref))));
    return placed(found.filter((record) => record !== null));
  };
  return {
    async read(ref) {
      const record = await readByRef(ref);
      return record && ((await placed([record]))[0] ?? null);
    },
    listByRefs,
    list: (filter) => listTows(redis, filter, listByRefs),
    counts: (overdueAfter) => countTows(redis, overdueAfter),
  };
}

/** An index in another order with at most this many tows is read completely and sorted. */
const SORTED_MAX = 1000;

/**
 * A page of tows. Without a search, rows are read from the indexes of states or of a crew, in the order of requests.
 * The other filters check each row with ZMSCORE, without reading the record. When few tows match a filter, the rows are
 * read from its index instead. Only the records of the page itself are read.
 */
async function listTows(
  redis: Redis,
  filter: TowFilter,
  readMany: TowStore['listByRefs'],
): Promise<Page<AsRead<KnownTow>>> {
  const limits = filter.overdueAfter && overdueLimits(filter.overdueAfter, await redisTimeMs(redis));
  const { rows, sure } = await sourceOf(redis, filter, limits);
  const { refs, nextCursor } = await pageOf(rows, filter, keptBy(redis, { ...filter, sure }, limits));
  const records = await readMany(refs);
  // A tow may have changed after its index entry was read.
  return { items: records.filter((record) => matchesFilter(record, filter)), nextCursor };
}

/** Counts tows; see countOverdue for the precision of the overdue ones. */
async function countTows(redis: Redis, after: OverdueAfter): Promise<TowCounts> {
  const [states, attention, unsent, overdue, crews] = await Promise.all([
    Promise.all(TOW_STATES.map((state) => redis.zcard(towsInStateKey(state)))),
    redis.zcard(KEYS.attention),
    redis.zcard(unsentTowsKey),
    countOverdue(redis, after, await redisTimeMs(redis)),
    redis.zrangebyscore(crewsKey, 1, '+inf'),
  ]);
  const [requested = 0, started = 0, detained = 0, released = 0, canceled = 0] = states;
  const byState = { requested, started, detained, released, canceled };
  return { by_state: byState, attention, unsent, overdue, crews: crews.toSorted(byBytes) };
}

/** Rows that include every matching tow, and the part of the filter that each of them passes. */
interface RowSource {
  readonly rows: Rows;
  readonly sure: 'states' | 'crew' | null;
}

async function sourceOf(redis: Redis, filter: TowFilter, limits: OverdueLimits | null): Promise<RowSource> {
  const order = filter.order ?? 'newest';
  if (filter.search !== null && visibleText(filter.search) !== '') {
    const found = await searchRows(redis, 'tow', filter.search);
    const refs = found.map(({ ref }) => ref);
    return {
      rows: filter.order === null ? knownRows(found, 'oldest') : await byRequest(redis, refs, order),
      sure: null,
    };
  }
  const few = await fewRefs(redis, filter, limits);
  if (few) return { rows: await byRequest(redis, few, order), sure: null };
  if (filter.crew !== null) return { rows: mergedRows(redis, [towsOfCrewKey(filter.crew)], order), sure: 'crew' };
  const keys = filter.states.length > 0 ? filter.states.map(towsInStateKey) : [KEYS.indexTows];
  return { rows: mergedRows(redis, keys, order), sure: 'states' };
}

/** The tows of the smallest index of the filter, if it has at most SORTED_MAX members; else null. */
async function fewRefs(
  redis: Redis,
  filter: TowFilter,
  limits: OverdueLimits | null,
): Promise<readonly string[] | null> {
  const asked = [
    ...(filter.attention ? [[{ key: KEYS.attention, to: '+inf' }]] : []),
    ...(filter.unsent ? [[{ key: unsentTowsKey, to: '+inf' }]] : []),
    ...(limits ? [limits.map(({ key, before }) => ({ key, to: `(${before}` }))] : []),
  ];
  if (asked.length === 0) return null;
  const sizes = await Promise.all(
    asked.map(async (parts) => {
      const counts = await Promise.all(parts.map(({ key, to }) => redis.zcount(key, '-inf', to)));
      return { parts, size: counts.reduce((sum, count) => sum + count, 0) };
    }),
  );
  const [smallest] = sizes.toSorted((a, b) => a.size - b.size);
  if (!smallest || smallest.size > SORTED_MAX) return null;
  const lists = await Promise.all(smallest.parts.map(({ key, to }) => redis.zrangebyscore(key, '-inf', to)));
  return [...new Set(lists.flat())];
}

async function byRequest(redis: Redis, refs: readonly string[], order: SortOrder): Promise<Rows> {
  if (refs.length === 0) return knownRows([], order);
  const slices = Array.from({ length: Math.ceil(refs.length / MEMBERS_PER_READ) }, (_, at) =>
    refs.slice(at * MEMBERS_PER_READ, (at + 1) * MEMBERS_PER_READ),
  );
  const scores = (await Promise.all(slices.map((slice) => redis.zmscore(KEYS.indexTows, ...slice)))).flat();
  const rows = refs.flatMap((ref, at): ListRow[] => {
    const score = scores[at];
    return score === null || score === undefined ? [] : [{ ref, place: { score: Number(score), member: ref } }];
  });
  return knownRows(rows, order);
}
