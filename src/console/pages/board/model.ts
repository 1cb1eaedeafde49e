import { isHeld } from '../../../contracts/outbox/withheld';
import type { TowCounts, TowNow } from '../../../contracts/operator';
import { ROUTES } from '../../../contracts/operator-routes';
import { SORT_ORDERS, type SortOrder } from '../../../contracts/paging';
import type { Actor } from '../../../domain/ops/audit';
import { headOf } from '../../../domain/outbox/outbox';
import { isTerminal } from '../../../domain/tow/tow';
import { TOW_STATES, type TowState } from '../../../domain/vocabulary';
import type { OperatorApi } from '../../../workflow/operator-port';
import { readList, readRecord, readRoute } from '../../api-calls';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import { LIST_ROWS, openPageIn, refreshed, SEARCH_MAX, type LiveListContent } from '../../parts/live-list';

/** What the board shows, as its address says it. The same address shows the same list to everybody. */
export interface BoardQuery {
  /** `open`: those that are not over; `all`: in any state. */
  readonly states: 'open' | 'all' | readonly TowState[];
  readonly attention: boolean;
  readonly unsent: boolean;
  readonly overdue: boolean;
  /** Of this crew; '' for tows without a crew, null for all. */
  readonly crew: string | null;
  readonly search: string | null;
  /** Null: newest first, a search by what fits best. */
  readonly order: SortOrder | null;
  readonly cursor: string | null;
}

const PATH = '/board';
export const OPEN_STATES: readonly TowState[] = TOW_STATES.filter((state) => !isTerminal(state));
/** As the operator API takes it. */
const CREW_MAX = 100;

/** Reads the address of a board. Unknown values are ignored. */
export function readQuery(given: URLSearchParams): BoardQuery {
  const flag = (name: string) => given.get(name) === 'true';
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  const asked = {
    attention: flag('attention'),
    unsent: flag('unsent'),
    overdue: flag('overdue'),
    crew: given.get('crew')?.trim().slice(0, CREW_MAX) ?? null,
    search: search === '' ? null : search,
    order: oneOf(SORT_ORDERS, given.get('order') ?? undefined),
    cursor: given.get('cursor'),
  };
  return { ...asked, states: statesIn(given.getAll('state')) ?? usualStates(asked) };
}

/** The address of a board. Omits default values, and the cursor unless `withCursor`. */
export function addressOf(query: BoardQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { states, search, crew, order, cursor } = query;
  const params = new URLSearchParams();
  if (states !== usualStates(query)) params.set('state', typeof states === 'string' ? states : states.join(','));
  for (const flag of ['attention', 'unsent', 'overdue'] as const) if (query[flag]) params.set(flag, 'true');
  if (crew !== null) params.set('crew', crew);
  if (search !== null) params.set('q', search);
  if (order !== null && !(order === 'newest' && search === null)) params.set('order', order);
  if (withCursor && cursor !== null) params.set('cursor', cursor);
  return params.size === 0 ? PATH : `${PATH}?${params.toString().replaceAll('%2C', ',')}`;
}

/** The address a form came from; the plain board for any other address. */
export function queryOf(address: string): BoardQuery {
  return readQuery(queryOfPath(PATH, address));
}

/**
 * The default states: open tows. A search, and a filter for tows that need a person, cover all states, because the tow
 * may have ended.
 */
function usualStates(query: Pick<BoardQuery, 'attention' | 'unsent' | 'overdue' | 'search'>): 'open' | 'all' {
  return query.attention || query.unsent || query.overdue || query.search !== null ? 'all' : 'open';
}

function statesIn(given: readonly string[]): BoardQuery['states'] | null {
  const names = given.flatMap((each) => each.split(','));
  const named = oneOf(['open', 'all'], names[0]);
  if (named !== null) return named;
  const states = TOW_STATES.filter((state) => names.includes(state));
  return states.length === 0 ? null : states;
}

/** Adds a state to the filter or removes it. Without any state the default states apply. */
export function withState(query: BoardQuery, state: TowState): BoardQuery {
  const chosen = typeof query.states === 'string' ? [] : query.states;
  const states = TOW_STATES.filter((each) => chosen.includes(each) !== (each === state));
  return { ...query, states: states.length === 0 ? usualStates(query) : states };
}

/** Changes other filters. States that the user chose stay; default states follow the new filters. */
export function withChanges(query: BoardQuery, changes: Partial<Omit<BoardQuery, 'states'>>): BoardQuery {
  const next = { ...query, ...changes };
  return { ...next, states: query.states === usualStates(query) ? usualStates(next) : query.states };
}

/** True when any filter differs from its default. The order does not count. */
export function isNarrowed(query: BoardQuery): boolean {
  return addressOf({ ...query, order: null }) !== PATH;
}

/** What a board shows. */
export interface BoardContent extends LiveListContent<TowNow> {
  readonly query: BoardQuery;
  readonly counts: TowCounts;
}

/** A page of the list as it is now. */
export async function readBoard(api: OperatorApi, actor: Actor, asked: BoardQuery): Promise<BoardContent> {
  const { search, crew, order } = asked;
  const flag = (isSet: boolean) => (isSet ? 'true' : null);
  const filters = {
    state: statesOf(asked)?.join() ?? null,
    q: search,
    attention: flag(asked.attention),
    unsent: flag(asked.unsent),
    overdue: flag(asked.overdue),
    crew,
    order,
    limit: String(LIST_ROWS),
  };
  const [{ list, cursor }, counts] = await Promise.all([
    readList(api, ROUTES.listTows, { actor, filters, cursor: asked.cursor }),
    readRoute(api, ROUTES.countTows, { actor }),
  ]);
  const rows = list.items.map((record) => ({ id: record.towing_reference_id, record, matches: true }));
  return { query: { ...asked, cursor }, rows, counts, newCount: 0, nextCursor: list.next_cursor };
}

/** The chosen states; null for all. */
function statesOf({ states }: BoardQuery): readonly TowState[] | null {
  return typeof states === 'string' ? { open: OPEN_STATES, all: null }[states] : states;
}

/** The open board of a form as it is now. */
export async function refreshBoard(api: OperatorApi, actor: Actor, form: URLSearchParams): Promise<BoardContent> {
  const open = openPageIn(form);
  const now = await readBoard(api, actor, queryOf(open.address));
  return refreshed(now, open, {
    read: (id) => readRecord(api, ROUTES.readTow, { actor, params: { towing_reference_id: id } }),
    matches: (tow) => matches(tow, now.query),
  });
}

/** True when a tow matches all filters but the search, which is matched against stored terms. */
function matches(tow: TowNow, query: BoardQuery): boolean {
  const { attention, unsent, overdue, crew } = query;
  const isUnsent = !isHeld(tow) && headOf(tow.reports) !== undefined;
  return (
    (statesOf(query)?.includes(tow.state) ?? true) &&
    (!attention || tow.tasks.length > 0) &&
    (!unsent || isUnsent) &&
    (!overdue || tow.overdue.length > 0) &&
    (crew === null || (tow.dispatch.assignment?.crew ?? '') === crew)
  );
}
