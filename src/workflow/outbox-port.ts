import type { ClaimStep } from '../domain/claim-entry';
import type { Entry } from '../domain/entry';
import type { GiveBack } from '../domain/give-back';
import type { OutboxRecord } from '../domain/outbox-record';
import type { ServiceHealth } from '../domain/service-health';
import type { AttemptResult, AttemptRight, Settled } from '../domain/settle-attempt';

/** What a worker has at hand when it claims. */
export interface Claimant {
  /** False: an entry whose kind needs a token first is not granted, `token_first`. */
  readonly hasToken: boolean;
}

/**
 * The outboxes of one kind of record: the only way calls leave. The whole promise of order and of no loss rests on it.
 * Records are named by `recordIdOf`.
 */
export interface Outbox<R extends OutboxRecord> {
  /** Asks for the right to do what a record needs next. A claim repeated after a lost reply is given again. */
  claim(id: string, claimant?: Claimant): Promise<Claim<R>>;
  /**
   * Stores what came of a claimed attempt, and gives the right back. With a claimant, the same commit claims what the record
   * needs next, if that could be done at once.
   */
  ack(claimed: Claimed<R>, result: AttemptResult, next?: Claimant): Promise<Stored<R>>;
  /** Gives the right back without an attempt; goes on like an ack. */
  giveBack(leased: Leased<R>, why: GiveBack, next?: Claimant): Promise<Stored<R>>;
  /** What was to be cleared up behind a settled record, when it was claimed, is done. */
  finished(record: R): Promise<void>;
  /** Stores what the token call said about an outage; `delayMs` until the next try when it lasts. */
  probed(result: { readonly service: ServiceHealth; readonly delayMs: number }): Promise<void>;
}

/** The right to work on a record, for as long as its lease lasts. */
export interface Leased<R extends OutboxRecord> {
  readonly record: R;
  /** Its head. */
  readonly entry: Entry;
  readonly leaseToken: string;
}

/** The right to send one entry once, for as long as the lease lasts; its permit is taken. */
export interface Claimed<R extends OutboxRecord> extends Leased<R>, AttemptRight {
  readonly kind: 'send';
  readonly entry: Entry;
  /** How many tries of an outage have failed in a row. */
  readonly failedProbes: number;
  /** When the right was granted, ms since the epoch in Redis time. */
  readonly grantedAtMs: number;
  /** When its permit of the rate limit was counted, ms since the epoch in Redis time. */
  readonly permitAtMs: number;
  /** How long that permit lasts from the claim on, ms; Infinity without a rate limit. */
  readonly permitLastsMs: number;
}

export type Claim<R extends OutboxRecord> =
  | Claimed<R>
  | ({ readonly kind: 'check' } & Leased<R>)
  | { readonly kind: 'finish'; readonly record: R }
  /** There is no such record. */
  | { readonly kind: 'gone' }
  | Exclude<ClaimStep, { readonly kind: 'send' | 'check' | 'finish' | 'permit' }>;

/** How it was stored; `more`: the record needs something else that could be done at once. */
export interface Stored<R extends OutboxRecord> {
  readonly kind: Settled;
  readonly more: boolean;
  /** The next claim, if one was asked for and `more` is true. */
  readonly next: Claim<R> | null;
}
