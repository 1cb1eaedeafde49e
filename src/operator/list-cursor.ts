import { readCursor, writeCursor } from '../contracts/paging';
import { storedObject } from '../contracts/stored';
import type { Route } from '../contracts/routes/route';
import { sha256Hex } from '../platform/hash';
import type { UncheckedCall } from './check-call';

/**
 * The cursors of the operator API. A cursor of the store is a position only; in another list, or with other filters, it
 * would give a wrong page. So the API adds the list that it belongs to: its route, path parameters and filters.
 */

type ListCall = Pick<UncheckedCall, 'params' | 'query'>;

/** Enough to tell the lists of one client apart. A hash, because filters may be long. */
const NAME_DIGITS = 12;

/** The cursor of the API for a cursor of the store. */
export function listCursor(route: Route, call: ListCall, cursor: string | null): string | null {
  const place = cursor === null ? null : readCursor(cursor);
  return place && writeCursor({ ...place, member: `${nameOf(route, call)} ${place.member}` });
}

/** The query with the cursor of the store. A cursor of another list becomes '', which the contract of the query refuses. */
export function withStoreCursor(route: Route, call: ListCall): unknown {
  const { success, data: query } = storedObject.safeParse(call.query);
  if (!success || query['cursor'] === undefined) return call.query;
  return { ...query, cursor: storeCursor(nameOf(route, call), query['cursor']) };
}

function storeCursor(list: string, given: unknown): string {
  const place = typeof given === 'string' ? readCursor(given) : null;
  const prefix = `${list} `;
  if (!place?.member.startsWith(prefix)) return '';
  return writeCursor({ ...place, member: place.member.slice(prefix.length) });
}

/** The size of a page may change between pages; all else names the list. */
function nameOf({ path }: Route, { params, query }: ListCall): string {
  const { cursor: _cursor, limit: _limit, ...filters } = storedObject.safeParse(query).data ?? {};
  const names = Object.keys(filters).toSorted();
  const parts = [
    path.replaceAll(/:(\w+)/g, (_part, name: string) => encodeURIComponent(params(name))),
    ...names.map((name) => [name, filters[name]]),
  ];
  return sha256Hex(JSON.stringify(parts)).slice(0, NAME_DIGITS);
}
