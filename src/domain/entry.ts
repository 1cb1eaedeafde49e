import type { NewTask } from './tasks';
import type { JsonObject, PausableOperation, ReportKind, ViolationState } from './vocabulary';

/**
 * The outbox: entries in order, each one call owed to the service. A tow has an entry per fact, a violation has one. The
 * head is the first entry that is not settled; only the head is ever sent.
 *
 * The rules in claim-entry.ts, settle-attempt.ts and decide-entry.ts change the record they are given: callers hand them a
 * copy and commit it if the version is unchanged.
 */

export type EntryKind = PausableOperation;
/** A violation may also be `held`: a person must decide before it is sent at all. */
export type EntryState = ViolationState;

/** What an attempt ended with; `message` may quote the service. */
export interface EntryError {
  http_status: number | null;
  message: string;
}

/** One attempt as it is kept; the first 5 and the last 20 are. */
export interface EntryAttempt {
  attempt_id: string;
  started_at?: string | undefined;
  ended_at_ms?: number | undefined;
  duration_ms?: number | undefined;
  outcome: string;
  http_status?: number | null | undefined;
  message?: string | null | undefined;
}

/** Moments are ms since the epoch, Redis time. */
export interface Entry {
  /** Place in the outbox, from 1. */
  seq: number;
  id: string;
  kind: EntryKind;
  state: EntryState;
  /** Frozen when the fact was recorded; only a correction replaces it. Of a violation its form is sent instead. */
  body: JsonObject;
  /** Raised by a correction; an answer to another revision changes nothing. */
  revision: number;
  createdAtMs: number;
  /** When it may be sent; null when only a person can go on. */
  nextAtMs: number | null;
  /** The attempt under way. */
  attemptId: string | null;
  attempts: number;
  /** Failed attempts in a row. */
  failures: number;
  /** How often the service did not know the violation or plate. */
  notFound: number;
  /** Attempts without an answer that may have had an effect. */
  unanswered: number;
  /** How many of those a person has taken responsibility for. */
  forgiven: number;
  /** Attempts that may have had an effect, with any answer. */
  possibleEffects: number;
  /** How often the connection broke for this entry while it worked for all others. */
  connectionLosses: number;
  /** How often in a row the claim had grown too old before the first byte. */
  drops: number;
  /** How often in a row the ticket check gave no answer. */
  ticketFailures: number;
  /** When an attempt that may have had an effect was first begun. */
  firstSentAtMs: number | null;
  /** The revision of that attempt. */
  sentRevision: number | null;
  firstFailedAtMs: number | null;
  giveUpAtMs: number | null;
  /** What it waits for: the name of a circuit, `budget`, `spool` or `ticket_check`. */
  waitsFor: string | null;
  /** Since when a circuit blocks it; its give-up clock is stopped meanwhile. */
  blockedSinceMs: number | null;
  error: EntryError | null;
  hint: string | null;
  reason: string | null;
  /** Refused with 403. */
  forbidden: boolean;
  answer: JsonObject | null;
  rawBody: string | null;
  /** An accepted answer whose claim was lost while another attempt was under way: settles that one if it ends unanswered. */
  lateAnswer: LateAnswer | null;
  deliveredAtMs: number | null;
  settledAtMs: number | null;
  /** `answered`, `late_answer`, `by_hand`, or by what it was proved. */
  acceptedHow: string | null;
  log: EntryAttempt[];
}

export interface LateAnswer {
  answer: JsonObject | null;
  rawBody: string | null;
  /** What a person is asked about the answer. */
  task: NewTask | null;
}

interface EntryPolicy {
  /** False for a call that creates something: sending it twice may create two. */
  readonly safeToRepeat: boolean;
  /** How many attempts may be left unanswered before a person decides. */
  readonly unansweredMax: number;
  /** How many unanswered attempts remain open after a person says "again". */
  readonly openAfterRetry: number;
  /** These tell where a vehicle is and get their permits first. */
  readonly isUrgent: boolean;
}

const SAFE = { safeToRepeat: true, unansweredMax: Infinity, openAfterRetry: 1, isUrgent: false } as const;

/** What differs between the kinds of calls; everything else is one machine. */
export const ENTRY_POLICY: Readonly<Record<EntryKind, EntryPolicy>> = {
  started: { ...SAFE, isUrgent: true },
  detained: SAFE,
  canceled: SAFE,
  released: { ...SAFE, isUrgent: true },
  invoice: { safeToRepeat: false, unansweredMax: 2, openAfterRetry: 1, isUrgent: false },
  payment: SAFE,
  violation: { safeToRepeat: false, unansweredMax: 1, openAfterRetry: 0, isUrgent: false },
};

/** A new entry, owed from now on. */
export function newEntry(given: {
  seq: number;
  id: string;
  kind: ReportKind | 'violation';
  body: JsonObject;
  nowMs: number;
}): Entry {
  const { nowMs, ...named } = given;
  return {
    ...named,
    state: 'pending',
    revision: 1,
    createdAtMs: nowMs,
    nextAtMs: nowMs,
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
  };
}

/** True once nothing more will be done for an entry, so that the next one may leave. */
export function isEntrySettled({ state }: Pick<Entry, 'state'>): boolean {
  return state === 'accepted' || state === 'waived';
}

/** The entry that leaves next; undefined when nothing is owed. */
export function headOf(entries: readonly Entry[]): Entry | undefined {
  return entries.find((entry) => !isEntrySettled(entry));
}

/** Unanswered attempts that no person has taken responsibility for. */
export function openOutcomes(entry: Entry): number {
  return entry.unanswered - entry.forgiven;
}

/** The state between two attempts: once an unanswered create may have worked, its outcome stays unknown. */
export function restingState(entry: Entry): 'pending' | 'unknown' {
  return !ENTRY_POLICY[entry.kind].safeToRepeat && openOutcomes(entry) > 0 ? 'unknown' : 'pending';
}

/** The give-up clock runs from the first failure on. */
export function startGiveUpClock(entry: Entry, nowMs: number, giveUpAfterMs: number): void {
  if (entry.firstFailedAtMs !== null) return;
  entry.firstFailedAtMs = nowMs;
  entry.giveUpAtMs = nowMs + giveUpAfterMs;
}

/** Takes the entry out of what blocks it; the give-up clock goes on from where it stood. */
export function unblock(entry: Entry, nowMs: number): void {
  if (entry.blockedSinceMs === null) return;
  if (entry.giveUpAtMs !== null) entry.giveUpAtMs += Math.max(0, nowMs - entry.blockedSinceMs);
  entry.blockedSinceMs = null;
  entry.waitsFor = null;
}

/** Notes an attempt that may have had an effect; a proof may be about the revision it sent. */
export function notePossibleEffect(entry: Entry): void {
  entry.possibleEffects += 1;
  entry.sentRevision ??= entry.revision;
}

const FIRST_ATTEMPTS_KEPT = 5;
const LAST_ATTEMPTS_KEPT = 20;

/** Adds an attempt to those kept: the first 5 and the last 20. */
export function logAttempt(entry: Entry, attempt: EntryAttempt): void {
  const last = entry.log.at(-1);
  // The same attempt is stored again when the reply to its commit was lost.
  if (last?.attempt_id === attempt.attempt_id && last.outcome === attempt.outcome) return;
  entry.log.push(attempt);
  if (entry.log.length > FIRST_ATTEMPTS_KEPT + LAST_ATTEMPTS_KEPT) entry.log.splice(FIRST_ATTEMPTS_KEPT, 1);
}
