import type { ReportError } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';
import type { AuditEntry } from '../domain/audit';
import type { NewTask } from '../domain/tasks';
import type { ViolationState } from '../domain/vocabulary';
import type { Violation } from '../domain/violation';
import type { AttemptResult } from './outbox-port';
import type { Act, Page, Remember, RememberAnswer, Saved } from './ports';

/** What the use cases about violations need of the store, and the doors through which a violation leaves. */

export interface ViolationFilter {
  readonly state: ViolationState | null;
  /** The beginning of a reference, an id or a plate. */
  readonly search: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** A person's decision on a violation that is not settled. */
export type ViolationDecision = { readonly audit: AuditEntry } & (
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly violation: Violation; readonly searchTerms: readonly string[] }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string; readonly reference: string | null }
);

export interface ViolationStore {
  /** By our id, or by the id in its metadata. */
  read(id: string): Promise<ViolationRecord | null>;
  list(filter: ViolationFilter): Promise<Page<ViolationRecord>>;
  /**
   * Takes a violation in and makes it due, in one write. `alias_taken`: another violation that is still here has the same
   * id in its metadata; `alias_of_waived`: so has one that was waived, but may have been sent. Then nothing is written.
   */
  create(
    violation: Violation,
    options: { searchTerms: readonly string[] },
    act: Act<RememberAnswer>,
  ): Promise<Saved | { readonly kind: 'alias_taken' } | { readonly kind: 'alias_of_waived' }>;
  /** `reference_taken`: it was to be accepted under the name of another violation; nothing is written. */
  decide(
    before: ViolationRecord,
    decision: ViolationDecision,
    remember?: Remember,
  ): Promise<Saved | { readonly kind: 'reference_taken' }>;
  /** The violation a tow request is about: by the service's reference, else by the id in its metadata. */
  find(named: { reference: string; metadataId: string | null }): Promise<ViolationRecord | null>;
  /**
   * Notes that a tow came from a violation, and under which reference the service knows it. Of a violation that may have
   * been sent without an answer this is the proof that the service has it: it is accepted and its task is closed; where
   * the form was corrected since it was sent, an informing task is opened. `shownAs`: the name that the violation is shown
   * under. `taken`: another violation has that name. `gone`: there is no such violation. Doing it twice is doing it once.
   */
  joined(
    id: string,
    tow: JoiningTow,
  ): Promise<{ readonly kind: 'joined'; readonly shownAs: string } | { readonly kind: 'taken' | 'gone' }>;
  /**
   * The same by a person's word, for a tow that was thought to come from the violation `before`, if any: that one loses it,
   * and with it the service's name, unless the service itself told that name of another violation than this one.
   */
  linked(id: string, tow: JoiningTow, before: string | null): Promise<'linked' | 'gone'>;
}

/** A tow, and the service's name of the violation it comes from. */
export interface JoiningTow {
  readonly towingReference: string;
  readonly reference: string;
}

export interface ViolationOutbox {
  /**
   * Asks for the right to send a violation. With `hasToken` false a violation that could leave at once is not granted:
   * `token_first`.
   */
  claim(id: string, asker?: { readonly hasToken: boolean }): Promise<ViolationClaim>;
  /** Stores what came of a claimed attempt, and gives the right back. */
  ack(claimed: ViolationClaimed, result: ViolationResult): Promise<'done' | 'late' | 'late_accepted' | 'gone'>;
  /** Gives the right back without an attempt: due again after `delayMs`; nothing is counted as a failure. */
  release(lease: ViolationLease, why: { delayMs: number; because: string }): Promise<void>;
  /**
   * Nobody could say whether there is a ticket: gives the right back, to ask again after `delayMs`. Counted as a failure,
   * so that one day a person must decide.
   */
  unchecked(lease: ViolationLease, why: { delayMs: number; error: ReportError }): Promise<void>;
  /**
   * Stores what the ticket check said, null when it said nothing, and gives the right back: due at once, or, with a task,
   * held until a person decides.
   */
  checked(lease: ViolationLease, ticket: { hasActiveTicket: boolean } | null, task: NewTask | null): Promise<void>;
  /** Opens the task of a violation that a person must decide on. Changes nothing when it has moved on. */
  handOver(id: string, violation: ViolationHandedOver, task: NewTask): Promise<void>;
  /**
   * Its tows have been looked for and joined, its files are gone from the spool, as of this version of the record. Clears
   * what made it due for that; a name that came since makes it due again.
   */
  finished(id: string, version: number): Promise<void>;
}

export type ViolationClaim =
  | ViolationClaimed
  /** Before it is sent the service is to be asked for an active ticket. No slot of the budget was taken. */
  | (ViolationLease & { readonly kind: 'check'; readonly record: ViolationRecord })
  /** It may be sent at once, but not before there is a token; nothing was granted. Get one and claim again. */
  | { readonly kind: 'token_first' }
  /** Nothing is to be done, or a person must decide first, or there is no such violation. */
  | { readonly kind: 'idle' | 'held' | 'gone' }
  /** Accepted or waived, and not cleared up yet: join the tows that name its reference, drop its files. */
  | { readonly kind: 'finish'; readonly record: ViolationRecord }
  | ViolationHandedOver
  /** The outage may be over and no report can find out: make the token call (as OutboxStore.probed stores it). */
  | { readonly kind: 'probe'; readonly failedProbes: number }
  /** Nothing can be sent before this moment (Redis time); the record is scheduled for it. */
  | { readonly kind: 'wait' | 'busy'; readonly untilMs: number };

/** A violation that only a person can go on with, and why; `unchecked`: nobody could say whether there is a ticket. */
export interface ViolationHandedOver {
  readonly kind: 'hand_over';
  readonly why: 'unknown' | 'given_up' | 'unchecked';
  readonly attempts: number;
  readonly version: number;
}

/** The right to work on one violation, for as long as the lease lasts. */
export interface ViolationLease {
  readonly id: string;
  readonly revision: number;
  readonly leaseToken: string;
}

/** The right to send one violation once, for as long as the lease lasts; its slot of the budget is taken. */
export interface ViolationClaimed extends ViolationLease {
  readonly kind: 'send';
  readonly record: ViolationRecord;
  readonly attemptId: string;
  /** Which attempt this is, from 1. */
  readonly attempt: number;
  readonly failures: number;
  readonly notFound: number;
  readonly unanswered: number;
  readonly connectionFailures: number;
  readonly failedProbes: number;
  readonly connectionLosses: number;
  /** How long before the claim it was recorded, ms. */
  readonly sinceRecordedMs: number;
  /** As of a claimed report (outbox-port.ts). */
  readonly permitAtMs: number;
  readonly permitLastsMs: number;
}

/** Everything that is stored of one attempt: as of a report, and what the service calls the violation. */
export interface ViolationResult extends AttemptResult {
  readonly named: {
    readonly reference: string;
    readonly serviceStatus: string | null;
    readonly canTow: boolean | null;
  } | null;
}
