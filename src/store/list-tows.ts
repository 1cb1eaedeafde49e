import type { Redis } from 'ioredis';
import type { Cursor } from '../contracts/cursor';
import type { Order } from '../contracts/paging';
import type { TowRecord } from '../contracts/records';
import type { OverdueAfter } from '../domain/overdue';
import { searchPrefixes } from '../domain/search';
import { TOW_STATES } from '../domain/vocabulary';
import type { Page, TowCounts, TowFilter } from '../workflow/list-port';
import { towPasses } from '../workflow/tow-passes';
import { countOverdue } from './count-overdue';
import { KEYS, towsInStateKey, towsOfCrewKey, unsentTowsKey } from './keys';
import { keptBy, overdueLimits, type OverdueLimits } from './tow-filter';
import { byBytes, knownRows, mergedRows, pageOf, type Paging, type Row, type RowPage, type Rows } from './rows';

/** How many words of a search are looked at, of each kind; whoever finds more should type more. */
const WORDS_MAX = 10_000;
/** An index that is in no order of requests, and holds no more than so many tows, is read whole and sorted. */
const SORTED_MAX = 1000;
/** So many words or places are read by one command: Redis serves others in between. */
const READ_AT_ONCE = 1000;

type ReadMany = (refs: readonly string[]) => Promise<readonly TowRecord[]>;

/**
 * A page of tows. Without a search it is read from the indexes of states or of a crew, in the order of requests; the other
 * filters are asked of each row (ZMSCORE), not of the records. What few tows pass is read from the index of that filter
 * instead. Records are read only of the page itself.
 */
export async function listTows(redis: Redis, filter: TowFilter, readMany: ReadMany): Promise<Page<TowRecord>> {
  const limits = filter.overdueAfter && overdueLimits(filter.overdueAfter, await nowMs(redis));
  const { rows, sure } = await sourceOf(redis, filter, limits);
  const { refs, nextCursor } = await pageOf(rows, filter, keptBy(redis, { ...filter, sure }, limits));
  const records = await readMany(refs);
  // Written meanwhile, a tow may not be what its index said.
  return { items: records.filter((record) => towPasses(record, filter)), nextCursor };
}

/** How many tows there are; see countOverdue for how exact the count of the overdue is. */
export async function countTows(redis: Redis, after: OverdueAfter): Promise<TowCounts> {
  const [states, attention, unsent, overdue] = await Promise.all([
    Promise.all(TOW_STATES.map((state) => redis.zcard(towsInStateKey(state)))),
    redis.zcard(KEYS.attention),
    redis.zcard(unsentTowsKey),
    countOverdue(redis, after, await nowMs(redis)),
  ]);
  const [requested = 0, started = 0, detained = 0, released = 0, canceled = 0] = states;
  const byState = { requested, started, detained, released, canceled };
  return { byState, attention, unsent, overdue };
}

/** Rows of which every tow that passes is one, and which part of the filter each of them passes for sure. */
interface Source {
  readonly rows: Rows;
  readonly sure: 'states' | 'crew' | null;
}

async function sourceOf(redis: Redis, filter: TowFilter, limits: OverdueLimits | null): Promise<Source> {
  const order = filter.order ?? 'newest';
  if (filter.search !== null && searchPrefixes(filter.search).length > 0) {
    const found = await searchRows(redis, KEYS.search, { words: filter.search, most: WORDS_MAX });
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

/** The tows of the smallest index that is in no order of requests, if it is small; null when none is. */
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

async function byRequest(redis: Redis, refs: readonly string[], order: Order): Promise<Rows> {
  if (refs.length === 0) return knownRows([], order);
  const slices = Array.from({ length: Math.ceil(refs.length / READ_AT_ONCE) }, (_, at) =>
    refs.slice(at * READ_AT_ONCE, (at + 1) * READ_AT_ONCE),
  );
  const scores = (await Promise.all(slices.map((slice) => redis.zmscore(KEYS.indexTows, ...slice)))).flat();
  const rows = refs.flatMap((ref, at): Row[] => {
    const score = scores[at];
    return score === null || score === undefined ? [] : [{ ref, place: { score: Number(score), member: ref } }];
  });
  return knownRows(rows, order);
}

/** What words find, each record once, under the first word it was found by; the place of a row is that word. */
async function searchRows(
  redis: Redis,
  index: string,
  { words, most }: { words: string; most: number },
): Promise<Row[]> {
  const found = await Promise.all(searchPrefixes(words).map((prefix) => wordsWith(redis, index, { prefix, most })));
  const placeByRef = new Map<string, Cursor>();
  for (const word of found.flat().toSorted(byBytes)) {
    const ref = word.slice(word.indexOf('\n') + 1);
    if (!placeByRef.has(ref)) placeByRef.set(ref, { score: 0, member: word });
  }
  return [...placeByRef].map(([ref, place]) => ({ ref, place }));
}

/** The first words of an index that begin so, `most` of them at most. */
async function wordsWith(
  redis: Redis,
  index: string,
  { prefix, most }: { prefix: string; most: number },
): Promise<string[]> {
  const words: string[] = [];
  for (let from = `[${prefix}`; words.length < most; from = `(${words.at(-1) ?? ''}`) {
    const count = Math.min(READ_AT_ONCE, most - words.length);
    const part = await redis.zrangebylex(index, from, `[${prefix}\u{10ffff}`, 'LIMIT', 0, count);
    words.push(...part);
    if (part.length < count) break;
  }
  return words;
}

/** A page of what words find, in the byte order of the words; it ends with the first thousand of each kind. */
export async function search(redis: Redis, index: string, page: Paging & { words: string }): Promise<RowPage> {
  return pageOf(knownRows(await searchRows(redis, index, { words: page.words, most: 1000 }), 'oldest'), page);
}

async function nowMs(redis: Redis): Promise<number> {
  const [seconds, micros] = await redis.time();
  return Number(seconds) * 1000 + Math.floor(Number(micros) / 1000);
}
