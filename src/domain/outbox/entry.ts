import { z } from 'zod';
import { FACTS, perFact } from '../tow/facts';
import type { SendingPolicy } from './outbox';
import { count, nullableNumber, nullableText, orUnknown, storedObject, storedRecord } from '../stored';
import {
  ACCEPTED_HOW,
  CIRCUIT_NAMES,
  ENTRY_KINDS,
  HINTS,
  VIOLATION_STATES,
  type EntryKind,
  type ViolationState,
} from '../vocabulary';

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
const LOGGED_OUTCOMES = ['accepted', 'refused', 'retry', 'unknown', 'worker_lost'] as const;
export type LoggedOutcome = (typeof LOGGED_OUTCOMES)[number];

/**
 * The error of an attempt. `message` may quote the service. It is stored and shown as it is, so its fields have the names
 * of the API, like those of `entryAttempt`, a task and the ticket of a `StoredViolation`.
 */
export const entryError = storedRecord({ http_status: z.number().nullable().default(null), message: z.string() });
export type EntryError = z.output<typeof entryError>;

/** An attempt in the log of an entry, which keeps the first 5 and the last 20. */
export const entryAttempt = storedRecord({
  attempt_id: z.string(),
  started_at: z.string().optional(),
  ended_at_ms: z.number().optional(),
  duration_ms: z.number().optional(),
  outcome: orUnknown(LOGGED_OUTCOMES),
  http_status: z.number().nullable().optional(),
  message: z.string().nullable().optional(),
});
export type EntryAttempt = z.output<typeof entryAttempt>;

/** The answer that accepts an entry, as it is kept. */
const acceptingAnswer = storedRecord({
  answer: storedObject.nullable(),
  rawBody: z.string().nullable(),
  deliveredAtMs: z.number(),
});
export type AcceptingAnswer = z.output<typeof acceptingAnswer>;

/**
 * A field with a default is left out of the stored entry while it has that value. Timestamps are ms since the epoch,
 * Redis time.
 */
export const storedEntry = storedRecord({
  /** Position in the outbox, from 1. */
  seq: z.number().int(),
  id: z.string(),
  kind: z.enum(ENTRY_KINDS),
  /** Frozen when the fact was recorded; only a correction replaces it. A violation is sent from its form instead. */
  body: storedObject,
  createdAtMs: z.number(),
  state: z.enum(VIOLATION_STATES).default('pending'),
  /** Raised by each correction. An answer to another revision changes nothing. */
  revision: z.number().int().default(1),
  /** When it may be sent; null when only a decision can continue it. */
  nextAtMs: nullableNumber,
  /** The attempt in flight. */
  attemptId: nullableText,
  attempts: count,
  /** Failed attempts in a row. */
  failures: count,
  /** 404 answers that named the violation or plate. */
  notFound: count,
  /** Attempts without an answer that may have taken effect. */
  unanswered: count,
  /** How many of the unanswered attempts a manual retry has forgiven. */
  forgiven: count,
  /** Attempts that may have taken effect, with any answer. */
  possibleEffects: count,
  /** Connection failures of this entry while other entries were sent. */
  connectionLosses: count,
  /** Consecutive claims that expired before the first byte was sent. */
  drops: count,
  /** Consecutive ticket checks without an answer. */
  ticketFailures: count,
  /** Of an invoice request: when the first attempt that may have taken effect began. */
  firstSentAtMs: nullableNumber,
  /** The revision that the first attempt that may have taken effect sent. */
  sentRevision: nullableNumber,
  firstFailedAtMs: nullableNumber,
  giveUpAtMs: nullableNumber,
  waitsFor: orUnknown(WAIT_REASONS).nullable().default(null),
  /** Since when a circuit blocks it. Its give-up clock is paused meanwhile. */
  blockedSinceMs: nullableNumber,
  error: entryError.nullable().default(null),
  hint: orUnknown(HINTS).nullable().default(null),
  reason: nullableText,
  forbidden: z.boolean().default(false),
  answer: storedObject.nullable().default(null),
  rawBody: nullableText,
  /**
   * An accepted answer that came after its lease was lost, during another attempt. It settles the entry if that
   * attempt ends without acceptance.
   */
  lateAnswer: acceptingAnswer.nullable().default(null),
  deliveredAtMs: nullableNumber,
  settledAtMs: nullableNumber,
  acceptedHow: orUnknown(ACCEPTED_HOW).nullable().default(null),
  log: z.array(entryAttempt).default([]),
});
export type Entry = z.output<typeof storedEntry>;

/** How each kind of call is sent; everything else is one machine. */
export const ENTRY_POLICY: Readonly<Record<EntryKind, SendingPolicy>> = {
  ...perFact((event) => FACTS[event].sending),
  violation: { safeToRepeat: false, unansweredMax: 1, openAfterRetry: 0, isUrgent: false },
};

/** Returns a new entry that is due now. */
export function newEntry({
  nowMs,
  ...given
}: Pick<Entry, 'seq' | 'id' | 'kind' | 'body'> & { readonly nowMs: number }): Entry {
  return storedEntry.parse({ ...given, createdAtMs: nowMs, nextAtMs: nowMs });
}

/** Returns a copy whose log may be changed. */
export function copyOfEntry(entry: Entry): Entry {
  return { ...entry, log: [...entry.log] };
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
