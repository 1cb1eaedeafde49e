import type { Redis } from 'ioredis';
import { readCursor, writeCursor, type Cursor } from '../contracts/cursor';
import type { TowRecord } from '../contracts/records';
import { searchPrefixes } from '../domain/search';
import type { Page, TowFilter } from '../workflow/ports';
import { KEYS, towsInStateKey } from './keys';

/** How many matches of a search are looked at; whoever has more should type more. */
const SEARCH_MAX = 1000;

type Read = (ref: string) => Promise<TowRecord | null>;

/** A page of tows, newest request first; with a search, by the words it found them under. */
export async function listTows(redis: Redis, filter: TowFilter, read: Read): Promise<Page<TowRecord>> {
  const { refs, nextCursor } = filter.search
    ? await search(redis, KEYS.search, { ...filter, words: filter.search })
    : await newestFirst(redis, indexOf(filter), filter);
  const records = await Promise.all(refs.map(read));
  const items = records.filter((record): record is TowRecord => record !== null && matches(record, filter));
  return { items, nextCursor };
}

function indexOf(filter: TowFilter): string {
  if (filter.attention) return KEYS.attention;
  return filter.state ? towsInStateKey(filter.state) : KEYS.indexTows;
}

function matches(record: TowRecord, filter: TowFilter): boolean {
  if (filter.state && record.tow.state !== filter.state) return false;
  return !filter.attention || record.tasks.length > 0;
}

/** A page of the members of an index, highest score first. The cursor is the last row seen, so new rows shift nothing. */
export async function newestFirst(
  redis: Redis,
  index: string,
  page: { cursor: string | null; limit: number },
): Promise<{ refs: string[]; nextCursor: string | null }> {
  const after = page.cursor === null ? null : readCursor(page.cursor);
  const refs: string[] = [];
  let last = after;
  let offset = 0;
  while (refs.length < page.limit) {
    const rows = await redis.zrevrangebyscore(
      index,
      after ? after.score : '+inf',
      '-inf',
      'WITHSCORES',
      'LIMIT',
      offset,
      page.limit + 1,
    );
    for (let i = 0; i + 1 < rows.length && refs.length < page.limit; i += 2) {
      const [member, score] = [rows[i] ?? '', Number(rows[i + 1])];
      // Rows of equal score come in falling order of their names.
      if (after && score === after.score && byBytes(member, after.member) >= 0) continue;
      refs.push(member);
      last = { score, member };
    }
    if (rows.length < 2 * (page.limit + 1)) {
      const more = last !== null && refs.length === page.limit && (await hasBelow(redis, index, last));
      return { refs, nextCursor: more && last ? writeCursor(last) : null };
    }
    offset += page.limit + 1;
  }
  return { refs, nextCursor: last ? writeCursor(last) : null };
}

async function hasBelow(redis: Redis, index: string, last: Cursor): Promise<boolean> {
  const rank = await redis.zrank(index, last.member);
  return rank !== null && rank > 0;
}

/** Matches in the byte order of their words, each record once; the cursor is the last word shown. */
export async function search(
  redis: Redis,
  index: string,
  page: { words: string; cursor: string | null; limit: number },
): Promise<{ refs: string[]; nextCursor: string | null }> {
  const found = await Promise.all(
    searchPrefixes(page.words).map((prefix) =>
      redis.zrangebylex(index, `[${prefix}`, `[${prefix}\u{10ffff}`, 'LIMIT', 0, SEARCH_MAX),
    ),
  );
  const after = page.cursor === null ? null : readCursor(page.cursor);
  const wordByRef = new Map<string, string>();
  for (const word of found.flat().toSorted(byBytes)) {
    const ref = word.slice(word.indexOf('\n') + 1);
    if (!wordByRef.has(ref)) wordByRef.set(ref, word);
  }
  const rest = [...wordByRef].filter(([, word]) => after === null || byBytes(word, after.member) > 0);
  const shown = rest.slice(0, page.limit);
  const last = shown.at(-1);
  const nextCursor = last && rest.length > shown.length ? writeCursor({ score: 0, member: last[1] }) : null;
  return { refs: shown.map(([ref]) => ref), nextCursor };
}

/** Redis orders members by their bytes, JavaScript strings by their UTF-16 units. */
function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
