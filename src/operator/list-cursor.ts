import { storedObject } from '../domain/stored';
import type { Route } from '../contracts/routes/route';
import { boundCursor, storeCursor } from '../workflow/list-cursor';
import type { UncheckedCall } from './check-call';

/** The cursors of the operator API are bound to the route, path parameters and filters of their list. */

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
