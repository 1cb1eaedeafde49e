import type { StoredJudgement } from '../contracts/judgements';
import type { Actor, AuditEntry } from '../domain/audit';
import { conflict } from '../domain/refusal';
import type { ActionResult } from './action-result';
import type { IdempotencyRecord } from './transaction-port';

/** A run that judges the deliveries of one kind of difference again. */
export interface JudgementRun extends StoredJudgement {
  /** Deliveries of the run that are still in the list of the kind. */
  readonly remaining: number;
}

/** The next deliveries of a run, in order of receipt. */
export interface JudgementSlice {
  readonly deliveryIds: readonly string[];
  /** The position before them; null at the start. */
  readonly from: string | null;
  /** The position after them; null at the end of the run. */
  readonly next: string | null;
}

export const JUDGEMENT_RUNNING = conflict(
  'judgement_running',
  'The deliveries of this kind are being judged already.',
).refusal;

export interface JudgementStore {
  /** The last run of a kind; null if there was none. */
  read(differenceId: string): Promise<JudgementRun | null>;
  /** How many deliveries wait with this kind of difference. */
  waiting(differenceId: string): Promise<number>;
  /** Starts a run; refuses while one runs. A worker takes it up. */
  start(
    differenceId: string,
    by: { readonly actor: Actor; readonly audit: AuditEntry; readonly idempotency: IdempotencyRecord | undefined },
  ): Promise<ActionResult>;
  /** The next deliveries of a running run; null when none runs, which also removes it from the schedule. */
  next(differenceId: string, limit: number): Promise<JudgementSlice | null>;
  /**
   * Records that a slice was judged; without `next` the run ends. Returns whether the caller continues: not when another
   * worker recorded it before.
   */
  advance(differenceId: string, slice: JudgementSlice): Promise<boolean>;
}
