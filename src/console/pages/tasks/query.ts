import { readCursor } from '../../../contracts/cursor';
import { ORDERS, type Order } from '../../../contracts/paging';
import { TASK_TYPES, type TaskType } from '../../../domain/tasks';
import { PAUSABLE_OPERATIONS, type PausableOperation } from '../../../domain/vocabulary';
import { isEmptyFilter, type TaskFilter } from '../../../workflow/list-port';
import { saidTo } from '../../addresses';
import { oneOf } from '../../viewer';

/** What the list of tasks shows, as its address says it. The same address shows the same list to everybody. */
export interface TaskQuery {
  readonly type: TaskType | null;
  /** The kind of the report, or the operation. */
  readonly kind: PausableOperation | null;
  readonly tow: string | null;
  readonly order: Order;
  readonly cursor: string | null;
}

export const PATH = '/tasks';
export const PAGE_ROWS = 25;
/** As the operator API takes it. */
const TOW_MAX = 500;

export const EVERYTHING: TaskQuery = { type: null, kind: null, tow: null, order: 'oldest', cursor: null };

/** Reads the address of a list; what it does not know counts as not said. */
export function readQuery(given: URLSearchParams): TaskQuery {
  const said = (name: string) => given.get(name) ?? undefined;
  const tow = (said('tow') ?? '').trim().slice(0, TOW_MAX);
  const cursor = said('cursor');
  return {
    type: oneOf(TASK_TYPES, said('type')),
    kind: oneOf(PAUSABLE_OPERATIONS, said('kind')),
    tow: tow === '' ? null : tow,
    order: oneOf(ORDERS, said('order')) ?? 'oldest',
    cursor: cursor !== undefined && readCursor(cursor) !== null ? cursor : null,
  };
}

/** The address of a list; what goes without saying is not said. Another filter begins at the first page. */
export function addressOf({ type, kind, tow, order, cursor }: TaskQuery): string {
  const said = new URLSearchParams();
  if (type !== null) said.set('type', type);
  if (kind !== null) said.set('kind', kind);
  if (tow !== null) said.set('tow', tow);
  if (order !== 'oldest') said.set('order', order);
  if (cursor !== null) said.set('cursor', cursor);
  return said.size === 0 ? PATH : `${PATH}?${said.toString()}`;
}

/** The list that an address of ours shows; the plain one for any other address. */
export function queryOf(address: string): TaskQuery {
  return readQuery(saidTo(PATH, address));
}

/** The same list with something else said, from its first page on. */
export function withSaid(query: TaskQuery, said: Partial<TaskQuery>): TaskQuery {
  return { ...query, cursor: null, ...said };
}

/** What the store is asked for. */
export function filterOf({ type, kind, tow }: TaskQuery): TaskFilter {
  return { type: type ?? undefined, kind: kind ?? undefined, towingReferenceId: tow ?? undefined };
}

/** True when something narrows the list. */
export function isNarrowed(query: TaskQuery): boolean {
  return !isEmptyFilter(filterOf(query));
}
