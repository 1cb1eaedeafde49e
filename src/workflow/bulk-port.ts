import type {
  BulkAction,
  BulkDocument,
  BulkHead,
  BulkOutcome,
  BulkResult,
  BulkState,
  BulkTarget,
  BulkRefusal,
} from '../contracts/bulk';
import type { Actor, AuditEntry } from '../domain/audit';

/** The bulk runs in the store. */

/** A run for display. Times are ISO 8601, Redis time. */
export interface BulkRun {
  readonly id: string;
  /** The person who chose the tasks. */
  readonly by: Actor;
  readonly action: BulkAction;
  readonly reason: string | null;
  readonly state: BulkState;
  /** The person who started or resumed it last; it decides with their rights. Null before the start. */
  readonly runBy: Actor | null;
  readonly previewedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** When the record of the run is deleted. */
  readonly expiresAt: string;
  /** The number of tasks per outcome, and in all. */
  readonly counts: Readonly<Record<BulkOutcome, number>>;
  readonly total: number;
}

/** One task of a run. */
export interface BulkItem extends BulkTarget {
  /** From 0, in the order of the decisions. */
  readonly position: number;
  readonly outcome: BulkOutcome;
  /** Why it was not decided; null if it was decided, or waits. */
  readonly words: BulkRefusal | null;
  /** True for the task that a worker decides now, or decided without recording the result. */
  readonly hasBegun: boolean;
}

export interface BulkRunWithItems extends BulkRun {
  readonly items: readonly BulkItem[];
}

/** A task as it was chosen. One that cannot be decided has its result already. */
export interface ChosenTask {
  readonly target: BulkTarget;
  readonly result: BulkResult | null;
}

/** The task to decide next. */
export interface CurrentItem {
  readonly position: number;
  readonly target: BulkTarget;
  /** The position of the task after it; null at the last one. */
  readonly next: number | null;
}

/** A run as the rules see it. */
export interface StoredBulk {
  readonly document: BulkDocument;
  readonly head: BulkHead;
  /** Redis time, Unix ms. */
  readonly nowMs: number;
}

/** What a decision on a run writes, all or nothing. */
export interface BulkChange {
  readonly head: BulkHead;
  /** The result of one task. */
  readonly result?: BulkResult & { readonly position: number };
  readonly audit?: AuditEntry;
  /** When the run continues, ms from now; by default as its state requires. */
  readonly againInMs?: number;
}

export interface BulkStore {
  /** Stores what was chosen for PREVIEW_MS. Decides nothing. */
  create(document: BulkDocument, chosen: readonly ChosenTask[]): Promise<void>;
  read(id: string): Promise<BulkRunWithItems | null>;
  /** Newest first. */
  recent(limit: number): Promise<readonly BulkRun[]>;
  /** A run and the task to decide next (null if none is left). Null if there is no such run. */
  next(id: string): Promise<{ readonly run: StoredBulk; readonly item: CurrentItem | null } | null>;
  /**
   * Decides on a run and commits the change with its schedule; decides again when the run changed meanwhile. `resultAt`
   * reads the result of a task. Resolves with the value of the decision, null when there is no such run. Rejects when it
   * is not certain whether the change was committed.
   */
  change<T>(
    id: string,
    decide: (
      run: StoredBulk,
      resultAt: (position: number) => Promise<BulkResult | null>,
    ) => Promise<{ readonly value: T; readonly change: BulkChange | null }>,
  ): Promise<T | null>;
  /** Removes the schedule of a run that has expired. */
  unschedule(id: string): Promise<void>;
}
