import { SORT_ORDERS, type SortOrder } from '../../../contracts/paging';
import type { OverdueAfter } from '../../../domain/overdue';
import { isTerminal } from '../../../domain/tow';
import { TOW_STATES, type TowState } from '../../../domain/vocabulary';
import { boundCursor, storeCursor } from '../../../workflow/list-cursor';
import { type TowFilter, matchesFilter, type TowCounts } from '../../../workflow/list-port';
import { queryOfPath } from '../../requests';
import { oneOf } from '../../viewer';
import type { PageTools } from '../../page';
import { countNewRows } from '../../parts/list';
import type { TowReadModel } from '../../../workflow/read-models';

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
  /** That of the store. In an address it is bound to the rest of the address. */
  readonly cursor: string | null;
}

const PATH = '/board';
export const BOARD_ROWS = 50;
export const OPEN_STATES: readonly TowState[] = TOW_STATES.filter((state) => !isTerminal(state));
/** As the operator API takes them. */
const SEARCH_MAX = 200;
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
    cursor: null,
  };
  const query = { ...asked, states: statesIn(given.getAll('state')) ?? usualStates(asked) };
  return { ...query, cursor: storeCursor(addressOf(query), given.get('cursor') ?? '') };
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
  const address = () => (params.size === 0 ? PATH : `${PATH}?${params.toString().replaceAll('%2C', ',')}`);
  const bound = withCursor ? boundCursor(address(), cursor) : null;
  if (bound !== null) params.set('cursor', bound);
  return address();
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

/** The filter of the store for a board. */
function filterOf(query: BoardQuery, overdueAfter: OverdueAfter): TowFilter {
  const { states, search, attention, unsent, overdue, crew, order, cursor } = query;
  return {
    states: typeof states === 'string' ? { open: OPEN_STATES, all: [] }[states] : states,
    search,
    attention,
    unsent,
    overdueAfter: overdue ? overdueAfter : null,
    crew,
    order,
    cursor,
    limit: BOARD_ROWS,
  };
}

/** What a board shows, read from the store. */
export interface BoardContent {
  readonly rows: readonly BoardRow[];
  readonly counts: TowCounts;
  /** The crews that have tows. */
  readonly crews: readonly string[];
  /** Tows that appeared between the shown rows since the page was loaded; `BOARD_ROWS` means that many or more. */
  readonly newCount: number;
  readonly nextCursor: string | null;
}

/** A tow that is shown. */
export interface BoardRow {
  readonly ref: string;
  /** Null once it left for the archive. */
  readonly record: TowReadModel | null;
  /** False when it no longer matches the filter. */
  readonly matches: boolean;
}

type BoardTools = Pick<PageTools, 'progress'>;

/** A page of the list as it is now. */
export async function readBoard({ progress: { tows, rules } }: BoardTools, query: BoardQuery): Promise<BoardContent> {
  const [page, counts, crews] = await Promise.all([
    tows.list(filterOf(query, rules.overdueAfter)),
    tows.counts(rules.overdueAfter),
    tows.crews(),
  ]);
  const rows = page.items.map((record) => ({ ref: record.tow.towingReferenceId, record, matches: true }));
  return { rows, counts, crews, newCount: 0, nextCursor: page.nextCursor };
}

/**
 * The present state of the rows of an open page, in their present order, and the number of tows that appeared between
 * them. `nextCursor` is that of the open page; null if it is the last one.
 */
export async function refreshBoard(
  tools: BoardTools,
  { query, shown, nextCursor }: { query: BoardQuery; shown: readonly string[]; nextCursor: string | null },
): Promise<BoardContent> {
  // Without a shown row no position has to be kept.
  if (shown.length === 0) return readBoard(tools, query);
  const { tows, rules } = tools.progress;
  const filter = filterOf(query, rules.overdueAfter);
  const [page, counts, crews] = await Promise.all([tows.list(filter), tows.counts(rules.overdueAfter), tows.crews()]);
  const listed = new Map<string, TowReadModel>(page.items.map((record) => [record.tow.towingReferenceId, record]));
  const others = await tows.listByRefs(shown.filter((ref) => !listed.has(ref)));
  const known = new Map<string, TowReadModel>([
    ...listed,
    ...others.map((record) => [record.tow.towingReferenceId, record] as const),
  ]);
  const rows = shown.map((ref) => {
    const record = known.get(ref) ?? null;
    return { ref, record, matches: record !== null && (listed.has(ref) || matchesFilter(record, filter)) };
  });
  return {
    rows,
    counts,
    crews,
    newCount: countNewRows([...listed.keys()], { shown, isLast: nextCursor === null }),
    nextCursor,
  };
}

/** True when there may be more new tows than were counted. */
export function isManyNew({ newCount }: Pick<BoardContent, 'newCount'>): boolean {
  return newCount >= BOARD_ROWS;
}
