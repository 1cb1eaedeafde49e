import { readCursor, writeCursor } from '../contracts/paging';
import { storedObject } from '../domain/stored';
import type { Route } from '../contracts/routes/route';
import { sha256Hex } from '../platform/hash';
import type { UncheckedCall } from './check-call';

/**
 * The cursors of the operator API are bound to the route, path parameters and filters of their list. A cursor of the store
 * is a position only; in another list, or with other filters, it would give a wrong page. So the text that a caller gets
 * also has a hash of the list that it belongs to.
 */

type ListCall = Pick<UncheckedCall, 'params' | 'query'>;

/** The cursor of the API for a cursor of the store. */
export function listCursor(route: Route, call: ListCall, cursor: string | null): string | null {
  return boundCursor(nameOf(route, call), cursor);
}

/** The query with the cursor of the store. A cursor of another list becomes '', which the contract of the query refuses. */
export function withStoreCursor(route: Route, call: ListCall): unknown {
  const { success, data: query } = storedObject.safeParse(call.query);
  if (!success || query['cursor'] === undefined) return call.query;
  const { cursor: given } = query;
  const cursor = typeof given === 'string' ? storeCursor(nameOf(route, call), given) : null;
  return { ...query, cursor: cursor ?? '' };
}

/** The size of a page may change between pages; all else names the list. */
function nameOf({ path }: Route, { params, query }: ListCall): string {
  const { cursor: _cursor, limit: _limit, ...filters } = storedObject.safeParse(query).data ?? {};
  const names = Object.keys(filters).toSorted();
  return JSON.stringify([
    path.replaceAll(/:(\w+)/g, (_part, name: string) => encodeURIComponent(params(name))),
    ...names.map((name) => [name, filters[name]]),
  ]);
}

/** Enough to tell the lists of one client apart. A hash, because filters may be long. */
const NAME_DIGITS = 12;

/** The bound cursor for a cursor of the store. `list`: its address and filters, in any notation that stays the same. */
function boundCursor(list: string, cursor: string | null): string | null {
  const place = cursor === null ? null : readCursor(cursor);
  return place && writeCursor({ ...place, member: `${prefixOf(list)}${place.member}` });
}

/** The cursor of the store for a bound cursor; null for one of another list, and for any other text. */
function storeCursor(list: string, bound: string): string | null {
  const place = readCursor(bound);
  const prefix = prefixOf(list);
  return place?.member.startsWith(prefix) ? writeCursor({ ...place, member: place.member.slice(prefix.length) }) : null;
}

function prefixOf(list: string): string {
  return `${sha256Hex(list).slice(0, NAME_DIGITS)} `;
}
