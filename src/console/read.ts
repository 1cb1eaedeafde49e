import type { Actor } from '../domain/ops/audit';
import type { ApiAnswer, ApiCall, JsonRoute, OperatorApi, RouteAnswer } from '../workflow/operator-port';

/** How pages read: through the operator API, as the person who is signed in. */

/** Reads a route that everyone who may see the page may read. Rejects if the API refuses. */
export async function readRoute<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  call: ApiCall,
): Promise<RouteAnswer<R>> {
  return valueOf(route, await api.call(route, call));
}

/** Reads a record; null if there is none. */
export async function readRecord<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  call: ApiCall,
): Promise<RouteAnswer<R> | null> {
  const answer = await api.call(route, call);
  return !answer.ok && answer.refusal.httpStatus === 404 ? null : valueOf(route, answer);
}

/** A list as its address asks for it. Filters that are null do not narrow it. */
interface ListAddress {
  readonly actor: Actor;
  readonly filters: Readonly<Record<string, string | null>>;
  readonly cursor: string | null;
}

/** Reads a page of a list; the first one, with the cursor null, for the cursor of another list or of other filters. */
export async function readList<R extends JsonRoute>(
  api: OperatorApi,
  route: R,
  { actor, filters, cursor }: ListAddress,
): Promise<{ readonly list: RouteAnswer<R>; readonly cursor: string | null }> {
  const given = Object.entries(filters).flatMap(([name, value]) => (value === null ? [] : [[name, value] as const]));
  const query = Object.fromEntries(given);
  const answer = cursor === null ? null : await api.call(route, { actor, query: { ...query, cursor } });
  if (answer?.ok === true) return { list: answer.value, cursor };
  return { list: await readRoute(api, route, { actor, query }), cursor: null };
}

/** A row of an open page. */
export interface ShownRow<T> {
  readonly id: string;
  /** Null once it left for the archive. */
  readonly record: T | null;
  /** False when it no longer matches the filter. */
  readonly matches: boolean;
}

/** The rows of an open page as they are now, in the order in which they are shown. */
export function rowsNow<T>(
  shown: readonly string[],
  now: {
    readonly listed: readonly ShownRow<T>[];
    readonly read: (id: string) => Promise<T | null>;
    readonly matches: (record: T) => boolean;
  },
): Promise<ShownRow<T>[]> {
  return Promise.all(
    shown.map(async (id) => {
      const listed = now.listed.find((row) => row.id === id);
      if (listed) return listed;
      const record = await now.read(id);
      return { id, record, matches: record !== null && now.matches(record) };
    }),
  );
}

function valueOf<T>(route: JsonRoute, answer: ApiAnswer<T>): T {
  if (!answer.ok) throw new Error(`${route.path} was refused as ${answer.refusal.code}`);
  return answer.value;
}
