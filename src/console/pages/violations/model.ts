import { VIOLATION_STATES, type ViolationState } from '../../../domain/vocabulary';
import { boundCursor, storeCursor } from '../../../workflow/list-cursor';
import type { ViolationFilter } from '../../../workflow/ports';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import type { PageTools } from '../../page';
import { countNewRows } from '../../parts/list';
import type { ViolationReadModel } from '../../../workflow/read-models';

/** What the list shows, as its address says it. The same address shows the same list to everybody. */
export interface ViolationsQuery {
  readonly state: ViolationState | null;
  readonly search: string | null;
  /** That of the store. In an address it is bound to the rest of the address. */
  readonly cursor: string | null;
}

export const PATH = '/violations';
export const VIOLATION_ROWS = 50;
/** As the operator API takes it. */
const SEARCH_MAX = 200;

/** Reads the address of a list; what it does not know counts as not said. */
export function readQuery(given: URLSearchParams): ViolationsQuery {
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  const query = {
    state: oneOf(VIOLATION_STATES, given.get('state') ?? undefined),
    search: search === '' ? null : search,
    cursor: null,
  };
  return { ...query, cursor: storeCursor(addressOf(query), given.get('cursor') ?? '') };
}

/** The address of a list. Omits the cursor unless `withCursor`. */
export function addressOf(query: ViolationsQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { state, search, cursor } = query;
  const params = new URLSearchParams();
  if (state !== null) params.set('state', state);
  if (search !== null) params.set('q', search);
  const address = () => (params.size === 0 ? PATH : `${PATH}?${params.toString()}`);
  const bound = withCursor ? boundCursor(address(), cursor) : null;
  if (bound !== null) params.set('cursor', bound);
  return address();
}

/** The list that an address of ours shows; the plain one for any other address. */
export function queryOf(address: string): ViolationsQuery {
  return readQuery(queryOfPath(PATH, address));
}

/** What the store is asked for. */
function filterOf({ state, search, cursor }: ViolationsQuery): ViolationFilter {
  return { state, search, cursor, limit: VIOLATION_ROWS };
}

/** What a list shows, read from the store. */
export interface ViolationList {
  readonly rows: readonly ViolationRow[];
  /** How many violations would be shown between these rows if the list was loaded again. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** A violation that is shown. */
export interface ViolationRow {
  readonly id: string;
  /** Null once it left for the archive. */
  readonly record: ViolationReadModel | null;
  /** False when it no longer matches the filter. */
  readonly matches: boolean;
}

type ViolationListTools = Pick<PageTools, 'violations'>;

/** A page of the list as it is now. */
export async function readList({ violations }: ViolationListTools, query: ViolationsQuery): Promise<ViolationList> {
  const { items, nextCursor } = await violations.list(filterOf(query));
  return { rows: items.map((record) => ({ id: record.violation.id, record, matches: true })), newCount: 0, nextCursor };
}

/**
 * The rows of a page that is being looked at, in the order they are shown in, as they are now; and how many violations came
 * since. `nextCursor`: of the page as it is shown, null when it was the last.
 */
export async function refreshList(
  { violations }: ViolationListTools,
  { query, shown, nextCursor }: { query: ViolationsQuery; shown: readonly string[]; nextCursor: string | null },
): Promise<ViolationList> {
  const { items } = await violations.list(filterOf(query));
  const listed = new Map(items.map((record) => [record.violation.id, record]));
  const rows = await Promise.all(
    shown.map(async (id) => {
      const record = listed.get(id) ?? (await violations.read(id));
      return { id, record, matches: record !== null && (query.state === null || record.state === query.state) };
    }),
  );
  return { rows, newCount: countNewRows([...listed.keys()], { shown, isLast: nextCursor === null }), nextCursor };
}
