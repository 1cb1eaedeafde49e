import type {
  BulkAction,
  BulkDocument,
  BulkInterruption,
  BulkOutcome,
  BulkState,
  BulkTarget,
  BulkWords,
} from '../contracts/bulk';
import type { Actor, AuditEntry } from '../domain/audit';

/** What deciding on many tasks at once needs of the store: any process can show a run, one at a time runs it. */

/** A run as people see it. */
export interface BulkRun {
  readonly id: string;
  /** Who chose the tasks. */
  readonly by: Actor;
  readonly action: BulkAction;
  readonly reason: string | null;
  readonly state: BulkState;
  /** Why it is interrupted; null in every other state. */
  readonly interruption: BulkInterruption | null;
  /** Who let it run last, and so decides; null before it was started. */
  readonly runBy: Actor | null;
  /** Moments are ISO 8601, in Redis time. */
  readonly previewedAt: string;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** When nothing is known of it any more. */
  readonly expiresAt: string;
  /** How many tasks have which result, and how many there are. */
  readonly counts: Readonly<Record<BulkOutcome, number>>;
  readonly total: number;
}

/** One task of a run. */
export interface BulkItem extends BulkTarget {
  /** From 0, in the order they are decided. */
  readonly position: number;
  readonly outcome: BulkOutcome;
  /** Why it was not decided; null when it was, or waits. */
  readonly words: BulkWords | null;
  /** True once its turn came: while it waits it may have been decided all the same, unknown to the run. */
  readonly hasBegun: boolean;
}

export interface BulkRunWithItems extends BulkRun {
  readonly items: readonly BulkItem[];
}

/** A task as it was chosen, with the result it has already: one that cannot be decided is refused at once. */
export interface ChosenTask {
  readonly target: BulkTarget;
  readonly result: BulkResult | null;
}

export interface BulkResult {
  readonly outcome: 'done' | 'refused' | 'gone' | 'skipped';
  readonly words: BulkWords | null;
}

/** `start` what was previewed, `resume` what nobody runs any more, `settle` what an aborted run left unwritten. */
export type TakingMode = 'start' | 'resume' | 'settle';

export type Taken =
  | { readonly kind: 'taken'; readonly held: HeldRun }
  | { readonly kind: 'not_now'; readonly state: BulkState }
  | { readonly kind: 'nothing_waits' }
  | { readonly kind: 'unknown' };

/** The task that a lane of a run shall decide now. */
export interface BegunItem {
  readonly position: number;
  readonly target: BulkTarget;
  /** It has begun before: perhaps it was decided, and whoever did it could not say so any more. */
  readonly mayHaveRun: boolean;
}

/**
 * The right to run a run, which ends when it is not renewed. A process that was frozen until then can begin nothing more.
 * Rejects when Redis does not answer; then everything may be asked again.
 */
export interface HeldRun {
  /** The next task for a lane, the same again when its answer was lost; null when there is none for it any more. */
  begin(lane: number): Promise<BegunItem | null>;
  /** Writes a result down. False when it does not count: another process has the run. */
  note(position: number, result: BulkResult): Promise<boolean>;
  /** Holds it for longer; false when no further task may be begun. */
  renew(): Promise<boolean>;
  /** False once it may have run out by our own clock, whatever Redis would say. */
  isSurelyHeld(): boolean;
  /** Gives it back; what waits then is interrupted. The state it is left in, null when it was not ours any more. */
  letGo(why: BulkInterruption): Promise<BulkState | null>;
}

export interface BulkStore {
  /** Keeps what was chosen for `previewMs`, nothing is decided by it. */
  create(document: BulkDocument, chosen: readonly ChosenTask[]): Promise<void>;
  read(id: string): Promise<BulkRunWithItems | null>;
  /** Newest first. */
  recent(limit: number): Promise<readonly BulkRun[]>;
  /** Only one process ever gets a run at a time. `audit` is written with it. */
  take(
    id: string,
    mode: TakingMode,
    as: { readonly runBy: Actor; readonly leaseMs: number; readonly audit: AuditEntry | null },
  ): Promise<Taken>;
  /** Ends a run: what has not begun is skipped. Takes effect before the next task, whichever process runs it. */
  abort(
    id: string,
    audit: AuditEntry,
  ): Promise<
    | { readonly kind: 'aborted' }
    | { readonly kind: 'not_now'; readonly state: BulkState }
    | { readonly kind: 'unknown' }
  >;
}
