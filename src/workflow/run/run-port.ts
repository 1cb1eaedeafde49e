import type {
  RunDocument,
  RunItemView,
  RunOutcome,
  RunResult,
  RunState,
  RunTarget,
  RunView,
} from '../../contracts/ops/runs';
import type { Actor, AuditEntry } from '../../domain/ops/audit';
import type { Decision } from '../../domain/refusal';
import type { ActionResult } from '../action-result';
import type { Page } from '../list-port';
import type { IdempotencyRecord, RunItemPlace } from '../transaction-port';

/** The runs in the store. */

/** A run as the rules see it. Times are Unix ms, Redis time. */
export interface StoredRun {
  readonly document: RunDocument;
  readonly state: RunState;
  /** Null before the start. */
  readonly startedBy: Actor | null;
  readonly previewedAtMs: number;
  readonly startedAtMs: number | null;
  readonly endedAtMs: number | null;
  /** The number of items with each result. */
  readonly counts: Readonly<Record<RunResult['outcome'], number>>;
}

/** An item as it was chosen. One that cannot be carried out has its result already. */
export interface ChosenItem {
  readonly target: RunTarget;
  readonly result: RunResult | null;
}

/** A change of a run by a person. */
export interface RunChange {
  readonly state: 'running' | 'aborted';
  readonly startedBy?: Actor;
  readonly audit: AuditEntry;
}

export interface RunStore {
  /** Stores what was chosen for PREVIEW_MS. Does nothing else. */
  create(
    document: RunDocument,
    chosen: readonly ChosenItem[],
    idempotency: IdempotencyRecord | undefined,
  ): Promise<ActionResult<RunView>>;
  /** Decides on a run and commits the change with its schedule. Refuses a run that does not exist. */
  change(
    id: string,
    idempotency: IdempotencyRecord | undefined,
    decide: (run: StoredRun) => Decision<{ readonly change: RunChange }>,
  ): Promise<ActionResult<RunView>>;
  read(id: string): Promise<StoredRun | null>;
  /** Newest first. */
  recent(limit: number): Promise<readonly StoredRun[]>;
  /** A page of the items; null when there is no such run. */
  items(
    id: string,
    page: { readonly outcome: RunOutcome | null; readonly cursor: string | null; readonly limit: number },
  ): Promise<Page<RunItemView> | null>;
  /**
   * A running run and the positions without a result, in order; its schedule is put off, as for a worker that has begun.
   * Null when it does not run, which also removes it from the schedule.
   */
  take(id: string): Promise<{ readonly run: StoredRun; readonly undecided: readonly number[] } | null>;
  /** The item at each of these positions; null when the run does not run any more. */
  targets(
    id: string,
    positions: readonly number[],
  ): Promise<readonly { readonly position: number; readonly target: RunTarget }[] | null>;
  /** Stores the result of an item that was not carried out, unless it has one or its run has ended. */
  settle(place: RunItemPlace, result: RunResult): Promise<void>;
  /** Ends a run of which every item has its result; else schedules it again after `againMs`. Returns whether it has ended. */
  end(id: string, againMs: number): Promise<boolean>;
}
