import { readCursor } from '../../../contracts/cursor';
import { VIOLATION_STATES, type ViolationState } from '../../../domain/vocabulary';
import type { ViolationFilter } from '../../../workflow/violation-port';
import { saidTo } from '../../addresses';
import { oneOf } from '../../viewer';

/** What the list shows, as its address says it. The same address shows the same list to everybody. */
export interface ViolationsQuery {
  readonly state: ViolationState | null;
  readonly search: string | null;
  readonly cursor: string | null;
}

export const PATH = '/violations';
export const PAGE_ROWS = 50;
/** As the operator API takes it. */
const SEARCH_MAX = 200;

/** Reads the address of a list; what it does not know counts as not said. */
export function readQuery(given: URLSearchParams): ViolationsQuery {
  const search = (given.get('q') ?? '').trim().slice(0, SEARCH_MAX);
  const cursor = given.get('cursor');
  return {
    state: oneOf(VIOLATION_STATES, given.get('state') ?? undefined),
    search: search === '' ? null : search,
    cursor: cursor !== null && readCursor(cursor) !== null ? cursor : null,
  };
}

/** The address of a list; the page is the first one unless told. */
export function addressOf(query: ViolationsQuery, { withCursor = false }: { withCursor?: boolean } = {}): string {
  const { state, search, cursor } = query;
  const said = new URLSearchParams();
  if (state !== null) said.set('state', state);
  if (search !== null) said.set('q', search);
  if (withCursor && cursor !== null) said.set('cursor', cursor);
  return said.size === 0 ? PATH : `${PATH}?${said.toString()}`;
}

/** The list that an address of ours shows; the plain one for any other address. */
export function queryOf(address: string): ViolationsQuery {
  return readQuery(saidTo(PATH, address));
}

/** What the store is asked for. */
export function filterOf({ state, search, cursor }: ViolationsQuery): ViolationFilter {
  return { state, search, cursor, limit: PAGE_ROWS };
}
