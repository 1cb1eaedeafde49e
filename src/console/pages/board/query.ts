import { readCursor } from '../../../contracts/cursor';
import { ORDERS, type Order } from '../../../contracts/paging';
import type { OverdueAfter } from '../../../domain/overdue';
import { isTerminal } from '../../../domain/tow';
import { TOW_STATES, type TowState } from '../../../domain/vocabulary';
import type { TowFilter } from '../../../workflow/list-port';
import { saidTo } from '../../addresses';
import { oneOf } from '../../viewer';

/** What the board shows, as its address says it. The same address shows the same list to everybody. */
export interface BoardQuery {
  /** `open`: those that are not over; `all`: in any state. */
  readonly states: 'open' | 'all' | readonly TowState[];
  readonly attention: boolean;
  readonly unsent: boolean;
  readonly overdue: boolean;
  /** Of this crew; '' of nobody; null of whomever. */
  readonly crew: string | null;
  readonly search: string | null;
  /** Null: newest first, a search by what fits best. */
  readonly order: Order | null;
  readonly cursor: string | null;
}

export const PATH = '/board';
export const PAGE_ROWS = 50;
export const OPEN_STATES: readonly TowState[] = TOW_STATES.filter((state) => !isTerminal(state));
/** As the operator API takes them. */
const SEARCH_MAX = 200;
const CREW_MAX = 100;

/** Reads the address of a board; what it does not know counts as not said. */
export function readQuery(given: URLSearchParams): BoardQuery {
  const flag = (name: string) => given.get(name) === 'true';
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  const cursor = given.get('cursor');
  const asked = {
    attention: flag('attention'),
    unsent: flag('unsent'),
    overdue: flag('overdue'),
    crew: given.get('crew')?.trim().slice(0, CREW_MAX) ?? null,
    search: search === '' ? null : search,
    order: oneOf(ORDERS, given.get('order') ?? undefined),
    cursor: cursor !== null && readCursor(cursor) !== null ? cursor : null,
  };
  return { ...asked, states: statesIn(given.getAll('state')) ?? usualStates(asked) };
}

/** The address of a board; what goes without saying is not said. The page is the first one unless told. */
export function addressOf(query: BoardQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { states, search, crew, order, cursor } = query;
  const said = new URLSearchParams();
  if (states !== usualStates(query)) said.set('state', typeof states === 'string' ? states : states.join(','));
  for (const flag of ['attention', 'unsent', 'overdue'] as const) if (query[flag]) said.set(flag, 'true');
  if (crew !== null) said.set('crew', crew);
  if (search !== null) said.set('q', search);
  if (order !== null && !(order === 'newest' && search === null)) said.set('order', order);
  if (withCursor && cursor !== null) said.set('cursor', cursor);
  return said.size === 0 ? PATH : `${PATH}?${said.toString().replaceAll('%2C', ',')}`;
}

/** The address a form came from; the plain board for any other address. */
export function queryOf(address: string): BoardQuery {
  return readQuery(saidTo(PATH, address));
}

/**
 * A board shows what is open. Whoever asks for what needs a person, or searches, asks in any state: what they look for,
 * and what a chip counts, may be on a tow that is over.
 */
function usualStates(query: Pick<BoardQuery, 'attention' | 'unsent' | 'overdue' | 'search'>): 'open' | 'all' {
  return query.attention || query.unsent || query.overdue || query.search !== null ? 'all' : 'open';
}

function statesIn(given: readonly string[]): BoardQuery['states'] | null {
  const words = given.flatMap((each) => each.split(','));
  const named = oneOf(['open', 'all'], words[0]);
  if (named !== null) return named;
  const states = TOW_STATES.filter((state) => words.includes(state));
  return states.length === 0 ? null : states;
}

/** The same board with one state more, or without it; without any it shows what it usually does. */
export function withState(query: BoardQuery, state: TowState): BoardQuery {
  const chosen = typeof query.states === 'string' ? [] : query.states;
  const states = TOW_STATES.filter((each) => chosen.includes(each) !== (each === state));
  return { ...query, states: states.length === 0 ? usualStates(query) : states };
}

/** The same board with something else said besides the states, which stay as they are only if they were chosen. */
export function withSaid(query: BoardQuery, said: Partial<Omit<BoardQuery, 'states'>>): BoardQuery {
  const next = { ...query, ...said };
  return { ...next, states: query.states === usualStates(query) ? usualStates(next) : query.states };
}

/** Whether anything narrows this board, or widens it, beyond what it usually shows. */
export function isNarrowed(query: BoardQuery): boolean {
  return addressOf({ ...query, order: null }) !== PATH;
}

/** What the store is asked for. */
export function filterOf(query: BoardQuery, overdueAfter: OverdueAfter): TowFilter {
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
    limit: PAGE_ROWS,
  };
}
