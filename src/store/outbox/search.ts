import type { Redis } from 'ioredis';
import type { Cursor } from '../../contracts/paging';
import { searchPrefixes } from '../../domain/search';
import { KEYS } from '../keys';
import { byBytes, type ListRow } from './rows';
import { storedPrefixes } from '../redis/at-rest';
import type { RecordKind } from '../../domain/outbox/outbox-record';

/** The search for tows and violations by prefixes of their references, ids, plates and invoice numbers. */

/**
 * The indexes, and how many entries of one are read per term. A search that finds more needs a more specific term. More
 * of tows, because other filters and orders apply to all that was found; violations are shown in the order found.
 */
const SEARCHED = {
  tow: { index: KEYS.search, most: 10_000 },
  violation: { index: KEYS.searchViolations, most: 1000 },
} as const;
/** Members per command, so that Redis can serve other clients in between. */
export const MEMBERS_PER_READ = 1000;

/** The records of a search, each once and exact matches first. A row has the position of its first matching entry. */
export async function searchRows(redis: Redis, kind: RecordKind, typed: string): Promise<ListRow[]> {
  const prefixes = searchPrefixes(typed).flatMap((prefix) => storedPrefixes(redis, prefix));
  const found = await Promise.all(prefixes.map((prefix) => entriesWith(redis, kind, prefix)));
  // The byte order alone would put each plate that begins with a searched number before the exact number.
  const exact = prefixes.map((prefix) => (prefix.endsWith('\n') ? prefix : `${prefix}\n`));
  const places = found.flat().map((member): Cursor => {
    return { score: exact.some((term) => member.startsWith(term)) ? 0 : 1, member };
  });
  const placeByRef = new Map<string, Cursor>();
  for (const place of places.toSorted((a, b) => a.score - b.score || byBytes(a.member, b.member))) {
    const ref = place.member.slice(place.member.indexOf('\n') + 1);
    if (!placeByRef.has(ref)) placeByRef.set(ref, place);
  }
  return [...placeByRef].map(([ref, place]) => ({ ref, place }));
}

/** Index entries with a prefix, as many as a search may read. */
async function entriesWith(redis: Redis, kind: RecordKind, prefix: string): Promise<string[]> {
  const { index, most } = SEARCHED[kind];
  const members: string[] = [];
  for (let from = `[${prefix}`; members.length < most; from = `(${members.at(-1) ?? ''}`) {
    const count = Math.min(MEMBERS_PER_READ, most - members.length);
    const part = await redis.zrangebylex(index, from, `[${prefix}\u{10ffff}`, 'LIMIT', 0, count);
    members.push(...part);
    if (part.length < count) break;
  }
  return members;
}
