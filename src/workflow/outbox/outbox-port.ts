import type { AttemptResult } from '../../domain/outbox/attempt';
import type { ClaimStep } from '../../domain/outbox/claim-entry';
import type { GiveBack } from '../../domain/outbox/give-back';
import type { AttemptRight, LeaseRight } from '../../domain/outbox/lease';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import type { StoredResult } from '../../domain/outbox/settle-attempt';

/**
 * The outboxes of one kind of record: the only way to send calls. Order and no loss depend on it. Records are named
 * by `recordIdOf`.
 */
export interface Outbox<R extends OutboxRecord> {
  /** Claims what a record needs next. A claim that is repeated after a lost reply returns the same claim. */
  claim(id: string): Promise<Claim<R>>;
  /**
   * Stores the result of a claimed attempt and gives the lease back. With `claimsNext`, the same commit also claims
   * the next step, if it can start at once.
   */
  settle(claimed: Claimed<R>, result: AttemptResult, claimsNext?: boolean): Promise<EndedLease<R>>;
  /**
   * Extends the lease of an attempt in flight. False when the lease is lost or the entry was settled meanwhile: the call
   * must end.
   */
  renew(claimed: Claimed<R>): Promise<boolean>;
  /** Gives the lease back without an attempt; `claimsNext` as for `settle`. */
  giveBack(right: LeaseRight<R>, why: GiveBack, claimsNext?: boolean): Promise<EndedLease<R>>;
  /** Records that the cleanup is done that was requested when the record was claimed. */
  completeCleanup(record: R): Promise<void>;
}

/** A claim that grants the right to send; its permit is taken. */
export interface Claimed<R extends OutboxRecord> extends AttemptRight<R> {
  readonly kind: 'send';
  /** Consecutive failed probes of the outage. */
  readonly failedProbes: number;
  /** When the claim was granted, ms since the epoch in Redis time. */
  readonly grantedAtMs: number;
  /** How long the lease lasts from then on, ms. */
  readonly leaseMs: number;
  /** When its permit was counted, ms since the epoch in Redis time. */
  readonly permitAtMs: number;
  /** How long to wait for proof of the call if it stays unanswered, ms; null: as the failure policy decides. */
  readonly proofMs: number | null;
  /** How long that permit is valid from the claim on, ms; Infinity without a rate limit. */
  readonly permitLastsMs: number;
}

export type Claim<R extends OutboxRecord> =
  | Claimed<R>
  | ({ readonly kind: 'check' } & LeaseRight<R>)
  | { readonly kind: 'cleanup'; readonly record: R }
  /** There is no such record. */
  | { readonly kind: 'gone' }
  | Exclude<ClaimStep, { readonly kind: 'send' | 'check' | 'cleanup' | 'permit' }>;

/** What was stored when a lease ended. */
export interface EndedLease<R extends OutboxRecord> {
  readonly kind: StoredResult;
  /** The next claim, if one was requested and its step can start at once. */
  readonly next: Claim<R> | null;
}
