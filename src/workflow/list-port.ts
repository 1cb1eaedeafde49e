import type { TaskCounts } from '../contracts/operator';
import type { SortOrder } from '../contracts/paging';
import type { Task } from '../contracts/outbox/records';
import { type OverdueAfter, overdueOf, unsettledSinceMs } from '../domain/outbox/overdue';
import type { EntryKind, TowState } from '../domain/vocabulary';
import type { KnownTow } from '../domain/tow/stored-tow';
import type { AsRead } from './outbox/read-record';

/** Filters, pages and counts of the lists of tows and tasks. */

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Selects tows; all given conditions must hold. */
export interface TowFilter {
  /** In one of these states; empty: any state. */
  readonly states: readonly TowState[];
  /** A prefix of a reference, our own id, a plate in either script, or an invoice number. */
  readonly search: string | null;
  /** With an open task. */
  readonly attention: boolean;
  /** With an unsettled report. */
  readonly unsent: boolean;
  /** Overdue by these limits; null: overdue or not. */
  readonly overdueAfter: OverdueAfter | null;
  /** Assigned to this crew; '': to none; null: any. */
  readonly crew: string | null;
  /** By request time. Null: newest first, or for a search by the matching terms, exact matches first. */
  readonly order: SortOrder | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** The defaults of a filter, which match every tow. Spread it and override; add `cursor` and `limit`. */
export const ALL_TOWS: Omit<TowFilter, 'cursor' | 'limit'> = {
  states: [],
  search: null,
  attention: false,
  unsent: false,
  overdueAfter: null,
  crew: null,
  order: null,
};

/** Selects tasks; all given conditions must hold. */
export interface TaskFilter {
  readonly type?: string | undefined;
  /** The kind of its report, or its operation. */
  readonly kind?: EntryKind | undefined;
  readonly towingReferenceId?: string | undefined;
}

export interface TaskPaging {
  readonly cursor: string | null;
  readonly limit: number;
  /** By opening time; newest first by default. */
  readonly order?: SortOrder | undefined;
  readonly filter?: TaskFilter | undefined;
}

/** The open tasks, as lists show them. */
export interface TaskList {
  list(page: TaskPaging): Promise<Page<Task>>;
  counts(): Promise<TaskCounts>;
  /** The number of open tasks; one cheap read. */
  count(): Promise<number>;
  /**
   * The ids of the first `max` matching tasks, oldest first. An empty filter never means all tasks: it throws
   * EmptyTaskFilter.
   */
  ids(filter: TaskFilter, max: number): Promise<readonly string[]>;
}

export class EmptyTaskFilter extends Error {
  constructor() {
    super('a filter of tasks must name a type, a kind or a tow');
    this.name = 'EmptyTaskFilter';
  }
}

/** True when a filter has no condition. */
export function isEmptyFilter(filter: TaskFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}

/** True when a tow matches a filter. Ignores `search`, which is matched against stored terms. */
export function matchesFilter(record: AsRead<KnownTow>, filter: TowFilter): boolean {
  const { tow, tasks, readAtMs } = record;
  const { states, attention, unsent, overdueAfter, crew } = filter;
  return (
    (states.length === 0 || states.includes(tow.state)) &&
    (!attention || Object.keys(tasks).length > 0) &&
    (!unsent || unsettledSinceMs(record) !== null) &&
    (overdueAfter === null || overdueOf(record, overdueAfter, readAtMs).length > 0) &&
    (crew === null || (tow.dispatch.assignment?.crew ?? '') === crew)
  );
}
