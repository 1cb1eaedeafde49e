import type { AttemptResult } from '../domain/settle-attempt';
import type { ServiceHealth } from '../domain/service-health';
import type { JsonObject, ReportKind } from '../domain/vocabulary';
import type { NewTask } from '../domain/tasks';

export type { AttemptResult } from '../domain/settle-attempt';

/** The two doors through which reports leave: claim and ack. The whole promise of order and of no loss rests on them. */
export interface OutboxStore {
  /** Asks for the right to send the head of a tow's outbox. */
  claim(ref: string): Promise<Claim>;
  /**
   * Stores what came of a claimed attempt, and gives the right back. With `goesOn`, the same commit claims the next report, if
   * that could leave at once.
   */
  ack(claimed: Claimed, result: AttemptResult, goesOn?: boolean): Promise<Acknowledged>;
  /** Opens the task of a report that a person must decide on. Changes nothing when the report has moved on. */
  handOver(ref: string, report: HandedOver, task: NewTask): Promise<void>;
  /** Stores what the token call said about an outage; `delayMs` until the next try when it lasts. */
  probed(result: { service: ServiceHealth; delayMs: number }): Promise<void>;
}

export type Claim =
  | Claimed
  /** Nothing is owed, or a person must decide first, or there is no such tow. */
  | { readonly kind: 'idle' | 'held' | 'gone' }
  /** Another try would be one too many. */
  | HandedOver
  /** The outage may be over and no report can find out: make the token call. */
  | { readonly kind: 'probe'; readonly failedProbes: number }
  /** Nothing can be sent before this moment (Redis time); the record is scheduled for it. */
  | { readonly kind: 'wait' | 'busy'; readonly untilMs: number };

/** A report that only a person can go on with, and why. */
export interface HandedOver {
  readonly kind: 'hand_over';
  readonly seq: number;
  readonly reportId: string;
  readonly reportKind: ReportKind;
  readonly why: 'unknown' | 'given_up';
  readonly attempts: number;
}

/** The right to send one report once, for as long as the lease lasts. */
export interface Claimed {
  readonly kind: 'send';
  readonly ref: string;
  readonly seq: number;
  readonly reportId: string;
  readonly reportKind: ReportKind;
  readonly body: JsonObject;
  readonly revision: number;
  readonly attemptId: string;
  readonly leaseToken: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  readonly failures: number;
  readonly notFound: number;
  readonly unanswered: number;
  /** How often in a row the connection to the service has failed. */
  readonly connectionFailures: number;
  /** How many tries of an outage have failed in a row. */
  readonly failedProbes: number;
  /** How often the connection broke for this report while it worked for all others. */
  readonly connectionLosses: number;
  /** How long before the claim its fact was recorded, ms. */
  readonly sinceRecordedMs: number;
  /** When its permit of the rate limit was counted, ms since the epoch in Redis time. */
  readonly permitAtMs: number;
  /** How long that permit lasts from the claim on, ms; Infinity without a rate limit. */
  readonly permitLastsMs: number;
}

/**
 * - done: stored; `more` says that another report could leave at once.
 * - late: the claim had been lost or the body corrected; kept among the attempts, nothing changed.
 * - late_accepted: late, but it settled a report whose outcome was unknown.
 */
export interface Acknowledged {
  readonly kind: 'done' | 'late' | 'late_accepted' | 'gone';
  readonly more: boolean;
  readonly next: Claim | null;
}
