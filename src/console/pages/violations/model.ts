import { ROUTES } from '../../../contracts/operator-routes';
import type { ViolationView } from '../../../contracts/violation/violations';
import type { Actor } from '../../../domain/ops/audit';
import { VIOLATION_STATES, type ViolationState } from '../../../domain/vocabulary';
import type { OperatorApi } from '../../../workflow/operator-port';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import { countNewRows } from '../../parts/list';
import { readList, readRecord, rowsNow, type ShownRow } from '../../api-calls';

/** What the list shows, as its address says it. The same address shows the same list to everybody. */
interface ViolationsQuery {
  readonly state: ViolationState | null;
  readonly search: string | null;
  readonly cursor: string | null;
}

export const PATH = '/violations';
export const VIOLATION_ROWS = 50;
/** As the operator API takes it. */
const SEARCH_MAX = 200;

/** Reads the address of a list; what it does not know counts as not said. */
export function readQuery(given: URLSearchParams): ViolationsQuery {
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  return {
    state: oneOf(VIOLATION_STATES, given.get('state') ?? undefined),
    search: search === '' ? null : search,
    cursor: given.get('cursor'),
  };
}

/** The address of a list. Omits the cursor unless `withCursor`. */
export function addressOf(query: ViolationsQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { state, search, cursor } = query;
  const params = new URLSearchParams();
  if (state !== null) params.set('state', state);
  if (search !== null) params.set('q', search);
  if (withCursor && cursor !== null) params.set('cursor', cursor);
  return params.size === 0 ? PATH : `${PATH}?${params.toString()}`;
}

/** The list that an address of ours shows; the plain one for any other address. */
export function queryOf(address: string): ViolationsQuery {
  return readQuery(queryOfPath(PATH, address));
}

/** What a list shows. */
export interface ViolationList {
  readonly query: ViolationsQuery;
  readonly rows: readonly ShownRow<ViolationView>[];
  /** How many violations would be shown between these rows if the list was loaded again. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** A page of the list as it is now. */
export async function readViolations(api: OperatorApi, actor: Actor, asked: ViolationsQuery): Promise<ViolationList> {
  const filters = { state: asked.state, q: asked.search, limit: String(VIOLATION_ROWS) };
  const { list, cursor } = await readList(api, ROUTES.listViolations, { actor, filters, cursor: asked.cursor });
  const rows = list.items.map((record) => ({ id: record.id, record, matches: true }));
  return { query: { ...asked, cursor }, rows, newCount: 0, nextCursor: list.next_cursor };
}

/**
 * The rows of a page that is being looked at, in the order they are shown in, as they are now; and how many violations came
 * since. `nextCursor`: of the page as it is shown, null when it was the last.
 */
export async function refreshViolations(
  api: OperatorApi,
  actor: Actor,
  open: { query: ViolationsQuery; shown: readonly string[]; nextCursor: string | null },
): Promise<ViolationList> {
  const { shown, nextCursor } = open;
  const now = await readViolations(api, actor, open.query);
  const { state } = now.query;
  const rows = await rowsNow(shown, {
    listed: now.rows,
    read: (id) => readRecord(api, ROUTES.readViolation, { actor, params: { violation_id: id } }),
    matches: (record) => state === null || record.state === state,
  });
  const listed = now.rows.map(({ id }) => id);
  return { ...now, rows, newCount: countNewRows(listed, { shown, isLast: nextCursor === null }), nextCursor };
}
