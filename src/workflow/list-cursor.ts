import { readCursor, writeCursor } from '../contracts/paging';
import { sha256Hex } from '../platform/hash';

/**
 * Binds the cursors of lists to them. A cursor of the store is a position only; in another list, or with other filters,
 * it would give a wrong page. So the text that a caller gets also has a hash of the list that it belongs to.
 */

/** Enough to tell the lists of one client apart. A hash, because filters may be long. */
const NAME_DIGITS = 12;

/** The bound cursor for a cursor of the store. `list`: its address and filters, in any notation that stays the same. */
export function boundCursor(list: string, cursor: string | null): string | null {
  const place = cursor === null ? null : readCursor(cursor);
  return place && writeCursor({ ...place, member: `${prefixOf(list)}${place.member}` });
}

/** The cursor of the store for a bound cursor; null for one of another list, and for any other text. */
export function storeCursor(list: string, bound: string): string | null {
  const place = readCursor(bound);
  const prefix = prefixOf(list);
  return place?.member.startsWith(prefix) ? writeCursor({ ...place, member: place.member.slice(prefix.length) }) : null;
}

function prefixOf(list: string): string {
  return `${sha256Hex(list).slice(0, NAME_DIGITS)} `;
}
