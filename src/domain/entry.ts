import { CIRCUIT_NAMES } from './circuits';
import { FACTS, perFact } from './facts';
import type { SendingPolicy } from './outbox';
import type { Hint } from './policy';
import type { AcceptedHow, EntryKind, JsonObject, OrUnknown, UnknownFields, ViolationState } from './vocabulary';

/**
 * The outbox: entries in order, each one call to the service. A tow has an entry per fact, a violation has one. The
 * head is the first unsettled entry; only the head is ever sent.
 *
 * The rules in claim-entry.ts, settle-attempt.ts and decide-entry.ts change the record they receive. Callers pass a
 * copy and commit it if the version is unchanged.
 */

/** `held`: only violations; nothing is sent until a person decides. */
export type EntryState = ViolationState;

/**
 * What an entry waits for.
 *
 * - the name of a circuit: until that closes, or the entry may probe it.
 * - budget: a permit of the rate limit.
 * - spool: a worker that sees the disk with its images.
 * - ticket_check: the next check for an active ticket; the last one had no answer.
 */
export const WAIT_REASONS = [...CIRCUIT_NAMES, 'budget', 'spool', 'ticket_check'] as const;
export type WaitReason = (typeof WAIT_REASONS)[number];

/**
 * The outcomes of attempts in the log of an entry: the verdict, or `worker_lost` if the lease ended before a result came.
 * An attempt with the verdict `hold` is not logged: the cause lies outside the entry.
 */
export const LOGGED_OUTCOMES = ['accepted', 'refused', 'retry', 'unknown', 'worker_lost'] as const;
export type LoggedOutcome = (typeof LOGGED_OUTCOMES)[number];

/**
 * The error of an attempt. `message` may quote the service. It is stored and shown as it is, so its fields have the names
 * of the API, like those of `EntryAttempt`, `NewTask` and the ticket of a `StoredViolation`.
 */
export interface EntryError {
  http_status: number | null;
  message: string;
}

/** An attempt in the log of an entry, which keeps the first 5 and the last 20. */
export interface EntryAttempt {
  attempt_id: string;
  started_at?: string | undefined;
  ended_at_ms?: number | undefined;
  duration_ms?: number | undefined;
  outcome: OrUnknown<LoggedOutcome>;
  http_status?: number | null | undefined;
  message?: string | null | undefined;
}

/** Timestamps are ms since the epoch, Redis time. */
export interface Entry {
  /** Position in the outbox, from 1. */
  seq: number;
  id: string;
  kind: EntryKind;
  state: EntryState;
  /** Frozen when the fact was recorded; only a correction replaces it. A violation is sent from its form instead. */
  body: JsonObject;
  /** Raised by each correction. An answer to another revision changes nothing. */
  revision: number;
  createdAtMs: number;
  /** When it may be sent; null when only a decision can continue it. */
  nextAtMs: number | null;
  /** The attempt in flight. */
  attemptId: string | null;
  attempts: number;
  /** Failed attempts in a row. */
  failures: number;
  /** 404 answers that named the violation or plate. */
  notFound: number;
  /** Attempts without an answer that may have taken effect. */
  unanswered: number;
  /** How many of the unanswered attempts a manual retry has forgiven. */
  forgiven: number;
  /** Attempts that may have taken effect, with any answer. */
  possibleEffects: number;
  /** Connection failures of this entry while other entries were sent. */
  connectionLosses: number;
  /** Consecutive claims that expired before the first byte was sent. */
  drops: number;
  /** Consecutive ticket checks without an answer. */
  ticketFailures: number;
  /** Of an invoice request: when the first attempt that may have taken effect began. */
  firstSentAtMs: number | null;
  /** The revision that the first attempt that may have taken effect sent. */
  sentRevision: number | null;
  firstFailedAtMs: number | null;
  giveUpAtMs: number | null;
  waitsFor: OrUnknown<WaitReason> | null;
  /** Since when a circuit blocks it. Its give-up clock is paused meanwhile. */
  blockedSinceMs: number | null;
  error: EntryError | null;
  hint: OrUnknown<Hint> | null;
  reason: string | null;
  forbidden: boolean;
  answer: JsonObject | null;
  rawBody: string | null;
  /**
   * An accepted answer that came after its lease was lost, during another attempt. It settles the entry if that
   * attempt ends without acceptance.
   */
  lateAnswer: AcceptingAnswer | null;
  deliveredAtMs: number | null;
  settledAtMs: number | null;
  acceptedHow: OrUnknown<AcceptedHow> | null;
  log: EntryAttempt[];
  /** Fields that another version of towhook stored; kept unchanged. */
  unknownFields: UnknownFields;
}

/** The answer that accepts an entry, as it is kept. */
export interface AcceptingAnswer {
  answer: JsonObject | null;
  rawBody: string | null;
  deliveredAtMs: number;
}

/** How each kind of call is sent; everything else is one machine. */
export const ENTRY_POLICY: Readonly<Record<EntryKind, SendingPolicy>> = {
  ...perFact((event) => FACTS[event].sending),
  violation: { safeToRepeat: false, unansweredMax: 1, openAfterRetry: 0, isUrgent: false },
};

const NO_FIELDS: UnknownFields = Object.freeze({});

/** An entry with the initial values. */
export const INITIAL_ENTRY: Readonly<Entry> = {
  seq: 0,
  id: '',
  kind: 'violation',
  body: {},
  state: 'pending',
  revision: 1,
  createdAtMs: 0,
  nextAtMs: 0,
  attemptId: null,
  attempts: 0,
  failures: 0,
  notFound: 0,
  unanswered: 0,
  forgiven: 0,
  possibleEffects: 0,
  connectionLosses: 0,
  drops: 0,
  ticketFailures: 0,
  firstSentAtMs: null,
  sentRevision: null,
  firstFailedAtMs: null,
  giveUpAtMs: null,
  waitsFor: null,
  blockedSinceMs: null,
  error: null,
  hint: null,
  reason: null,
  forbidden: false,
  answer: null,
  rawBody: null,
  lateAnswer: null,
  deliveredAtMs: null,
  settledAtMs: null,
  acceptedHow: null,
  log: [],
  unknownFields: NO_FIELDS,
};

/** Returns a new entry that is due now. */
export function newEntry(given: Pick<Entry, 'seq' | 'id' | 'kind' | 'body'> & { readonly nowMs: number }): Entry {
  const entry = copyOfEntry(INITIAL_ENTRY);
  entry.seq = given.seq;
  entry.id = given.id;
  entry.kind = given.kind;
  entry.body = given.body;
  entry.createdAtMs = given.nowMs;
  entry.nextAtMs = given.nowMs;
  return entry;
}

/**
 * Returns a copy. All entries come from this literal, which lists every field: an object that starts as a spread and
 * then gets further fields has a hidden class of its own, which slows down every later use.
 */
export function copyOfEntry(entry: Entry): Entry {
  return {
    seq: entry.seq,
    id: entry.id,
    kind: entry.kind,
    body: entry.body,
    state: entry.state,
    revision: entry.revision,
    createdAtMs: entry.createdAtMs,
    nextAtMs: entry.nextAtMs,
    attemptId: entry.attemptId,
    attempts: entry.attempts,
    failures: entry.failures,
    notFound: entry.notFound,
    unanswered: entry.unanswered,
    forgiven: entry.forgiven,
    possibleEffects: entry.possibleEffects,
    connectionLosses: entry.connectionLosses,
    drops: entry.drops,
    ticketFailures: entry.ticketFailures,
    firstSentAtMs: entry.firstSentAtMs,
    sentRevision: entry.sentRevision,
    firstFailedAtMs: entry.firstFailedAtMs,
    giveUpAtMs: entry.giveUpAtMs,
    waitsFor: entry.waitsFor,
    blockedSinceMs: entry.blockedSinceMs,
    error: entry.error,
    hint: entry.hint,
    reason: entry.reason,
    forbidden: entry.forbidden,
    answer: entry.answer,
    rawBody: entry.rawBody,
    lateAnswer: entry.lateAnswer,
    deliveredAtMs: entry.deliveredAtMs,
    settledAtMs: entry.settledAtMs,
    acceptedHow: entry.acceptedHow,
    log: [...entry.log],
    unknownFields: entry.unknownFields,
  };
}

/** Unanswered attempts that no person has taken responsibility for. */
export function openUnanswered(entry: Entry): number {
  return entry.unanswered - entry.forgiven;
}

/** The state between two attempts: `unknown` while an unanswered create may have worked. */
export function stateBetweenAttempts(entry: Entry): 'pending' | 'unknown' {
  return !ENTRY_POLICY[entry.kind].safeToRepeat && openUnanswered(entry) > 0 ? 'unknown' : 'pending';
}

/** Starts the give-up clock, at the first failure. */
export function startGiveUpClock(entry: Entry, nowMs: number, giveUpAfterMs: number): void {
  if (entry.firstFailedAtMs !== null) return;
  entry.firstFailedAtMs = nowMs;
  entry.giveUpAtMs = nowMs + giveUpAfterMs;
}

/** Ends the wait for a circuit. The give-up clock resumes where it was paused. */
export function unblock(entry: Entry, nowMs: number): void {
  if (entry.blockedSinceMs === null) return;
  if (entry.giveUpAtMs !== null) entry.giveUpAtMs += Math.max(0, nowMs - entry.blockedSinceMs);
  entry.blockedSinceMs = null;
  entry.waitsFor = null;
}

/** Counts an attempt that may have taken effect, and keeps the revision it sent. */
export function countPossibleEffect(entry: Entry): void {
  entry.possibleEffects += 1;
  entry.sentRevision ??= entry.revision;
}

const FIRST_ATTEMPTS_KEPT = 5;
const LAST_ATTEMPTS_KEPT = 20;

/** Adds an attempt to the log: the first 5 and the last 20 are kept. */
export function logAttempt(entry: Entry, attempt: EntryAttempt): void {
  const last = entry.log.at(-1);
  // When the reply to a commit is lost, the same attempt is stored again.
  if (last?.attempt_id === attempt.attempt_id && last.outcome === attempt.outcome) return;
  entry.log.push(attempt);
  if (entry.log.length > FIRST_ATTEMPTS_KEPT + LAST_ATTEMPTS_KEPT) entry.log.splice(FIRST_ATTEMPTS_KEPT, 1);
}
