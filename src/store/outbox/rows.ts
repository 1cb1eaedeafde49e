import type { Redis } from 'ioredis';
import { type Cursor, readCursor, type SortOrder, writeCursor } from '../../contracts/paging';

/**
 * Pages of sorted sets. A page continues after the last row of the page before, so that new rows do not shift it. Rows
 * with equal scores are in byte order of their members.
 */

/** A record in a list, and its position. */
export interface ListRow {
  readonly ref: string;
  readonly place: Cursor;
}

/** Returns up to `count` rows after a position. */
export type Rows = (after: Cursor | null, count: number) => Promise<readonly ListRow[]>;

/** A requested page; `cursor` is a text of `writeCursor`. */
export interface Paging {
  readonly cursor: string | null;
  readonly limit: number;
}

interface RowPage {
  readonly refs: readonly string[];
  readonly nextCursor: string | null;
}

/** Rows that are scanned for one page, at most. */
const SCANNED_MAX = 20_000;
const BATCH_MAX = 1000;

/** The rows of several sorted sets as one list. A record in two of them has the same score in both. */
export function mergedRows(redis: Redis, keys: readonly string[], order: SortOrder): Rows {
  return async (after, count) => {
    const lists = await Promise.all(keys.map((key) => rowsOf(redis, { key, order, after, count })));
    if (lists.length === 1) return lists[0] ?? [];
    const byRef = new Map(lists.flat().map((row) => [row.ref, row]));
    return [...byRef.values()].toSorted(comparing(order)).slice(0, count);
  };
}

/** The rows of a list in memory. */
export function knownRows(rows: readonly ListRow[], order: SortOrder): Rows {
  const compare = comparing(order);
  const sorted = rows.toSorted(compare);
  return (after, count) => {
    const from = after === null ? 0 : sorted.findIndex((row) => compare(row, { ref: '', place: after }) > 0);
    return Promise.resolve(from === -1 ? [] : sorted.slice(from, from + count));
  };
}

/** A page of the rows that pass `keep`. It scans at most 20,000 rows, so a short or empty page need not be the last. */
export async function pageOf(
  rows: Rows,
  { cursor, limit }: Paging,
  keep?: (rows: readonly ListRow[]) => Promise<readonly ListRow[]>,
): Promise<RowPage> {
  const found: ListRow[] = [];
  let after = cursor === null ? null : readCursor(cursor);
  let scanned = 0;
  for (let count = limit + 1; found.length <= limit && scanned < SCANNED_MAX; count = Math.min(4 * count, BATCH_MAX)) {
    const batch = await rows(after, count);
    found.push(...(keep ? await keep(batch) : batch));
    scanned += batch.length;
    after = batch.at(-1)?.place ?? after;
    if (batch.length < count) return page(found, limit, null);
  }
  return page(found, limit, after);
}

/** `next`: where to continue when the page is not full; null at the end. */
function page(found: readonly ListRow[], limit: number, next: Cursor | null): RowPage {
  const shown = found.slice(0, limit);
  const after = found.length > limit ? (shown.at(-1)?.place ?? null) : next;
  return { refs: shown.map(({ ref }) => ref), nextCursor: after && writeCursor(after) };
}

/** The rows of one sorted set that are wanted; `end` is the highest score, without limit by default. */
interface RowRange {
  readonly key: string;
  readonly order: SortOrder;
  readonly after: Cursor | null;
  readonly end?: number;
  readonly count: number;
}

/**
 * Up to `count` rows of one sorted set after a position, fewer at its end. A row that stays in the set is neither left
 * out nor given twice, even if others are added or removed meanwhile.
 */
export async function rowsOf(redis: Redis, range: RowRange): Promise<ListRow[]> {
  const rows: ListRow[] = [];
  for (;;) {
    const after = rows.at(-1)?.place ?? range.after;
    const next = await nextRows(redis, { ...range, after, count: range.count - rows.length });
    rows.push(...next);
    if (next.length === 0 || rows.length >= range.count) return rows;
  }
}

/** The next rows after a position, at least one if there is one. */
async function nextRows(redis: Redis, { key, order, after, end = Infinity, count }: RowRange): Promise<ListRow[]> {
  const compare = comparing(order);
  const last = Number.isFinite(end) ? end : '+inf';
  // The row of the position itself is usually read again.
  const size = after === null ? count : count + 1;
  for (let offset = 0; ; offset += size) {
    const part = ['WITHSCORES', 'LIMIT', offset, size] as const;
    const flat =
      order === 'newest'
        ? await redis.zrevrangebyscore(key, after?.score ?? last, '-inf', ...part)
        : await redis.zrangebyscore(key, after?.score ?? '-inf', last, ...part);
    const rows: ListRow[] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) {
      const ref = flat[i] ?? '';
      const row = { ref, place: { score: Number(flat[i + 1]), member: ref } };
      if (after === null || compare(row, { ref: '', place: after }) > 0) rows.push(row);
    }
    if (rows.length > 0 || flat.length < 2 * size) return rows.slice(0, count);
  }
}

function comparing(order: SortOrder): (a: ListRow, b: ListRow) => number {
  const sign = order === 'newest' ? -1 : 1;
  return ({ place: a }, { place: b }) => sign * (a.score - b.score || byBytes(a.member, b.member));
}

/** Compares as Redis does, by bytes; JavaScript compares UTF-16 units. */
export function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
