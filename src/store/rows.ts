import type { Redis } from 'ioredis';
import { readCursor, writeCursor, type Cursor } from '../contracts/cursor';
import type { Order } from '../contracts/paging';

/**
 * Rows of sorted sets, page by page. A page goes on behind the last row seen, so that new rows shift nothing; rows of
 * equal score come in the byte order of their names.
 */

/** A record, and the place at which it stands in a list. */
export interface Row {
  readonly ref: string;
  readonly place: Cursor;
}

/** Gives the next rows behind a place, `count` of them unless there are fewer. */
export type Rows = (after: Cursor | null, count: number) => Promise<readonly Row[]>;

/** The page as it was asked for; `cursor` is a text of `writeCursor`. */
export interface Paging {
  readonly cursor: string | null;
  readonly limit: number;
}

export interface RowPage {
  readonly refs: readonly string[];
  readonly nextCursor: string | null;
}

/** How many rows are looked at for one page at most. */
const LOOKS_MAX = 20_000;
const BATCH_MAX = 1000;

/** The rows of several sorted sets as one list. A record that stands in two of them has the same score in both. */
export function mergedRows(redis: Redis, keys: readonly string[], order: Order): Rows {
  return async (after, count) => {
    const lists = await Promise.all(keys.map((key) => rowsOf(redis, { key, order, after, count })));
    if (lists.length === 1) return lists[0] ?? [];
    const byRef = new Map(lists.flat().map((row) => [row.ref, row]));
    return [...byRef.values()].toSorted(comparing(order)).slice(0, count);
  };
}

/** Rows that are all known already. */
export function knownRows(rows: readonly Row[], order: Order): Rows {
  const compare = comparing(order);
  const sorted = rows.toSorted(compare);
  return (after, count) => {
    const from = after === null ? 0 : sorted.findIndex((row) => compare(row, { ref: '', place: after }) > 0);
    return Promise.resolve(from === -1 ? [] : sorted.slice(from, from + count));
  };
}

/**
 * A page of the rows that `keep` leaves of them. It looks at 20,000 rows at most: a page may be short, or empty, and yet
 * not the last.
 */
export async function pageOf(
  rows: Rows,
  { cursor, limit }: Paging,
  keep?: (rows: readonly Row[]) => Promise<readonly Row[]>,
): Promise<RowPage> {
  const found: Row[] = [];
  let after = cursor === null ? null : readCursor(cursor);
  let looks = 0;
  for (let count = limit + 1; found.length <= limit && looks < LOOKS_MAX; count = Math.min(4 * count, BATCH_MAX)) {
    const batch = await rows(after, count);
    found.push(...(keep ? await keep(batch) : batch));
    looks += batch.length;
    after = batch.at(-1)?.place ?? after;
    if (batch.length < count) return page(found, limit, null);
  }
  return page(found, limit, after);
}

/** `unseen`: from where on nothing was looked at; null when that was the end. */
function page(found: readonly Row[], limit: number, unseen: Cursor | null): RowPage {
  const shown = found.slice(0, limit);
  const next = found.length > limit ? (shown.at(-1)?.place ?? null) : unseen;
  return { refs: shown.map(({ ref }) => ref), nextCursor: next && writeCursor(next) };
}

/** A page of one sorted set, highest score first unless told otherwise. */
export async function newestFirst(redis: Redis, index: string, paging: Paging): Promise<RowPage> {
  return pageOf(mergedRows(redis, [index], 'newest'), paging);
}

async function rowsOf(
  redis: Redis,
  { key, order, after, count }: { key: string; order: Order; after: Cursor | null; count: number },
): Promise<Row[]> {
  const compare = comparing(order);
  const rows: Row[] = [];
  for (let offset = 0; ; offset += count) {
    const part = ['WITHSCORES', 'LIMIT', offset, count] as const;
    const flat =
      order === 'newest'
        ? await redis.zrevrangebyscore(key, after?.score ?? '+inf', '-inf', ...part)
        : await redis.zrangebyscore(key, after?.score ?? '-inf', '+inf', ...part);
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const ref = flat[i] ?? '';
      const row = { ref, place: { score: Number(flat[i + 1]), member: ref } };
      if (after === null || compare(row, { ref: '', place: after }) > 0) rows.push(row);
    }
    if (flat.length < 2 * count || rows.length >= count) return rows.slice(0, count);
  }
}

function comparing(order: Order): (a: Row, b: Row) => number {
  const sign = order === 'newest' ? -1 : 1;
  return ({ place: a }, { place: b }) => sign * (a.score - b.score || byBytes(a.member, b.member));
}

/** Redis orders members by their bytes, JavaScript strings by their UTF-16 units. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
