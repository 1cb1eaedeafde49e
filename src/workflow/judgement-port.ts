import type { StoredJudgement } from '../contracts/judgements';
import type { ActionResult } from './action-result';
import type { IdempotencyRecord, Transaction } from './transaction-port';

/** A run that judges the deliveries of one kind of difference again. */
export interface JudgementRun extends StoredJudgement {
  /** Deliveries of the run that are still in the list of the kind. */
  readonly remaining: number;
}

/** The next deliveries of a run, in order of receipt. */
export interface JudgementSlice {
  readonly deliveryIds: readonly string[];
  /** When their run was started, Unix ms: no two runs of a kind start at the same time. */
  readonly startedAtMs: number;
  /** The position before them; null at the start. */
  readonly from: string | null;
  /** The position after them; null at the end of the run. */
  readonly next: string | null;
}

/** What a decision on a run reads, and how it changes the run. */
export interface JudgementDraft {
  readonly transaction: Transaction;
  /** The last run of the kind; null if there was none. */
  readonly last: StoredJudgement | null;
  /** Stores a run, and when a worker takes it up. */
  readonly save: (judgement: StoredJudgement) => void;
}

export interface JudgementStore {
  /** The last run of a kind; null if there was none. */
  read(differenceId: string): Promise<JudgementRun | null>;
  /** How many deliveries wait with this kind of difference. `receivedUntilMs`: only those received until then. */
  waiting(differenceId: string, receivedUntilMs?: number): Promise<number>;
  /** The next deliveries of a running run; null when none runs, which also removes it from the schedule. */
  next(differenceId: string, limit: number): Promise<JudgementSlice | null>;
  /** Decides on the run of a kind and commits the change, at most once per Idempotency-Key; see `transactOnce`. */
  change<T>(
    differenceId: string,
    idempotency: IdempotencyRecord | undefined,
    decide: (draft: JudgementDraft) => Promise<ActionResult<T>>,
  ): Promise<ActionResult<T>>;
}
