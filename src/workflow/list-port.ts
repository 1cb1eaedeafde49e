import type { Order } from '../contracts/paging';
import type { Task } from '../contracts/records';
import type { OverdueAfter } from '../domain/overdue';
import type { PausableOperation, TowState } from '../domain/vocabulary';

/** How lists of tows and tasks are asked for, and how many of each there are. */

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor: string | null;
}

/** Which tows; all that is given must be true of a tow. */
export interface TowFilter {
  /** In any of these; empty: in any at all. */
  readonly states: readonly TowState[];
  /** The beginning of a reference of either kind, of our own id, of a plate in either script, or of an invoice number. */
  readonly search: string | null;
  /** Those with an open task. */
  readonly attention: boolean;
  /** Those that owe the service a report. */
  readonly unsent: boolean;
  /** Those that are overdue after these times; null: overdue or not. */
  readonly overdueAfter: OverdueAfter | null;
  /** Those of this crew; '' those of nobody; null: of whomever. */
  readonly crew: string | null;
  /** By their requests. Null: newest first, a search by the words it finds them under, which begins with exact matches. */
  readonly order: Order | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** A filter that every tow passes, to be spread with what it shall say; the page comes with it. */
export const EVERY_TOW: Omit<TowFilter, 'cursor' | 'limit'> = {
  states: [],
  search: null,
  attention: false,
  unsent: false,
  overdueAfter: null,
  crew: null,
  order: null,
};

export interface TowCounts {
  readonly byState: Readonly<Record<TowState, number>>;
  readonly attention: number;
  readonly unsent: number;
  /** Exact unless more than 10,000 tows are overdue in their state and more than 10,000 owe a report: then an estimate. */
  readonly overdue: number;
}

/** Which tasks; all that is given must be true of a task. */
export interface TaskFilter {
  readonly type?: string | undefined;
  /** The kind of the report it is about, or the operation. */
  readonly kind?: PausableOperation | undefined;
  readonly towingReferenceId?: string | undefined;
}

export interface TaskCounts {
  readonly total: number;
  /** In the order of their names; `kinds` without the tasks that are about no kind. */
  readonly types: readonly {
    readonly type: string;
    readonly count: number;
    readonly kinds: readonly { readonly kind: PausableOperation; readonly count: number }[];
  }[];
}

export interface TaskPaging {
  readonly cursor: string | null;
  readonly limit: number;
  /** By the moment they were opened; newest first when left out. */
  readonly order?: Order | undefined;
  readonly filter?: TaskFilter | undefined;
}

/** What people must decide, as lists show it. */
export interface TaskList {
  list(page: TaskPaging): Promise<Page<Task>>;
  counts(): Promise<TaskCounts>;
  /** How many there are in all; one cheap read. */
  count(): Promise<number>;
  /**
   * The ids of the first `max` tasks that a filter names, oldest first. A filter that says nothing never means everything:
   * it throws EmptyTaskFilter.
   */
  ids(filter: TaskFilter, max: number): Promise<readonly string[]>;
}

/** Somebody asked for all tasks of a filter that names none. */
export class EmptyTaskFilter extends Error {
  constructor() {
    super('a filter of tasks must name a type, a kind or a tow');
    this.name = 'EmptyTaskFilter';
  }
}

/** True when a filter says nothing. */
export function isEmptyFilter(filter: TaskFilter): boolean {
  return Object.values(filter).every((value) => value === undefined);
}
