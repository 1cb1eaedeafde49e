import { ASKED_WAIT_MAX_MS } from './backoff';
import { compareInvoices } from './compare-invoices';
import { blockEntry, settleByLateAnswer } from './claim-entry';
import {
  blocking,
  loseConnection,
  noteAnswer,
  noteFailure,
  noteForbidden,
  type CircuitEffects,
  type Circuits,
} from './circuits';
import {
  ENTRY_POLICY,
  isEntrySettled,
  logAttempt,
  notePossibleEffect,
  restingState,
  startGiveUpClock,
  type Entry,
  type EntryAttempt,
  type EntryError,
} from './entry';
import { memberOf, noteEvent, openTask, type OutboxRecord } from './outbox-record';
import type { Verdict } from './policy';
import type { ServiceHealth } from './service-health';
import { acceptEntry } from './settle-entry';
import { connectionTask, outageTask, pausedOperationTask, type NewTask } from './tasks';
import type { ServiceName } from './violation-names';
import type { JsonObject } from './vocabulary';

/** What one attempt came to. */
export interface AttemptResult {
  readonly verdict: Verdict;
  readonly attempt: Omit<EntryAttempt, 'attempt_id'>;
  readonly error: EntryError | null;
  /** The operation's data, kept with the entry. */
  readonly answer: JsonObject | null;
  /** Kept when the answer broke the contract. */
  readonly rawBody: string | null;
  /** What the service calls the violation that it took; null when it told no name. */
  readonly named: ServiceName | null;
  /** True when the attempt surely changed nothing at the service. */
  readonly hadNoEffect: boolean;
  /** False while the permit taken for it is unused, so that it can be given back. */
  readonly isPermitSpent: boolean;
  /** True when the service answered anything at all. */
  readonly wasAnswered: boolean;
  /** True when something answered in place of the service. */
  readonly isForeign: boolean;
  readonly service: ServiceHealth;
  /** True when the service forbids the operation (403). */
  readonly isForbidden: boolean;
  /** How long the service itself asked us to wait. */
  readonly askedMs: number;
  /** How long an outage that this attempt begins or confirms is left alone. */
  readonly outageDelayMs: number;
  /** True when the connection broke for this entry alone, as far as is known. */
  readonly isConnectionLoss: boolean;
  /** True when nothing was sent because the claim had grown too old. */
  readonly isTooOld: boolean;
  /** What a person must look at. */
  readonly task: NewTask | null;
}

/** The right under which an attempt was made. */
export interface AttemptRight {
  /** The entry that was sent, as it was when the right was taken. */
  readonly entry: Pick<Entry, 'seq' | 'revision'>;
  readonly attemptId: string;
  readonly leaseToken: string;
  /** How often in a row the connection had failed when the right was taken. */
  readonly connectionFailures: number;
}

export interface SettleContext {
  readonly nowMs: number;
  readonly giveUpAfterMs: number;
  /** Drafts. */
  readonly circuits: Circuits;
  readonly effects: CircuitEffects;
  /** Keeps what else an accepted answer says, such as the service's name of a violation. */
  readonly keepAnswer: (record: OutboxRecord) => void;
}

/**
 * - done: stored.
 * - late: the right had been lost or the body corrected; kept among the attempts.
 * - late_accepted: late, but the answer settled the entry.
 * - gone: there is no such entry.
 */
export type Settled = 'done' | 'late' | 'late_accepted' | 'gone';

/** While a circuit is open another record makes the next try: this one may be the only one that fails. */
const PROBE_TURN_MS = 500;
const CONNECTION_WAIT_MAX_MS = 30_000;
const DROPS_MAX = 3;
const DROP_WAIT_MS = 1000;
const DROP_WAIT_MAX_MS = 60_000;

/** Stores what came of one attempt and gives the lease back. Changes `record`, `context.circuits` and `context.effects`. */
export function settleAttempt(
  record: OutboxRecord,
  right: AttemptRight,
  result: AttemptResult,
  context: SettleContext,
): Settled {
  const { circuits, effects } = context;
  const entry = record.entries.find(({ seq }) => seq === right.entry.seq);
  if (!entry) return 'gone';
  const outcome = result.verdict.next;
  if (outcome !== 'hold') logAttempt(entry, { attempt_id: right.attemptId, ...result.attempt });
  const { wasAnswered, isForbidden } = result;
  const isAlive = result.service === 'alive';
  noteAnswer(circuits, { kind: entry.kind, wasAnswered, isAlive, isForbidden }, effects);
  const isSameBody = entry.revision === right.entry.revision;
  const isOurs = isSameBody && entry.attemptId === right.attemptId && record.lease?.token === right.leaseToken;
  if (!isOurs) return isSameBody && outcome === 'accepted' ? settleLate(record, entry, result, context) : 'late';
  record.lease = null;
  entry.attemptId = null;
  const isPaused = noteTrouble(record, entry, right, result, context);
  const wasSettled = isEntrySettled(entry);
  if (outcome === 'accepted') {
    keepAnswer(record, entry, result, context);
    if (!wasSettled) acceptEntry(record, entry, 'answered', context.nowMs);
    askAboutAnswer(record, result, context);
  } else if (!wasSettled && !settleByLateAnswer(record, entry, context.nowMs)) {
    settleFailure(record, entry, result, { ...context, isPaused });
  }
  return 'done';
}

/** An accepted answer in hand is never thrown away, although its right was lost. */
function settleLate(record: OutboxRecord, entry: Entry, result: AttemptResult, context: SettleContext): Settled {
  if (isEntrySettled(entry)) return 'late';
  if (entry.attemptId !== null) {
    entry.lateAnswer = { answer: result.answer, rawBody: result.rawBody, task: result.task };
    // The service's name of a violation holds however the other attempt ends.
    context.keepAnswer(record);
    return 'late';
  }
  keepAnswer(record, entry, result, context);
  acceptEntry(record, entry, 'late_answer', context.nowMs);
  askAboutAnswer(record, result, context);
  return 'late_accepted';
}

function keepAnswer(
  record: OutboxRecord,
  entry: Entry,
  { answer, rawBody }: AttemptResult,
  context: SettleContext,
): void {
  Object.assign(entry, { answer, rawBody, deliveredAtMs: context.nowMs });
  if (record.kind === 'tow') compareInvoices(record, entry, context.nowMs);
  context.keepAnswer(record);
}

/** Accepted by an answer that breaks the contract: until a person has looked, the images of a violation stay. */
function askAboutAnswer(record: OutboxRecord, { task }: AttemptResult, { nowMs }: SettleContext): void {
  if (!task) return;
  if (record.kind === 'violation') record.isAnswerQuestioned = true;
  openTask(record, task, nowMs);
}

/** What a failed attempt says about the service as a whole. True when its operation is paused now. */
function noteTrouble(
  record: OutboxRecord,
  entry: Entry,
  right: AttemptRight,
  result: AttemptResult,
  { circuits, effects, nowMs }: SettleContext,
): boolean {
  const words = result.error?.message ?? '';
  const { kind } = entry;
  const member = memberOf(record);
  const pausedTask = pausedOperationTask(kind, words);
  const isPaused = result.isForbidden && noteForbidden(circuits, { kind, member, task: pausedTask }, nowMs, effects);
  const delayMs = connectionDelayOf(result);
  if (delayMs !== null) {
    const metBy =
      record.kind === 'violation' || kind === 'violation'
        ? { violationId: record.kind === 'violation' ? record.id : entry.id }
        : { kind, towingReference: record.ref };
    const task = connectionTask(words, metBy);
    const failures = right.connectionFailures + 1;
    loseConnection(circuits, { delayMs, failures, isSafeOnly: result.isForeign, task }, nowMs, effects);
  } else if (result.service === 'failing') {
    noteFailure(circuits, { member, delayMs: result.outageDelayMs, task: outageTask(words) }, nowMs, effects);
  }
  return isPaused;
}

/** How long the connection is left alone, ms; null when the attempt says nothing against it. */
function connectionDelayOf({ verdict }: AttemptResult): number | null {
  if (verdict.next === 'unknown') return verdict.connectionDelayMs ?? null;
  return verdict.next === 'hold' && verdict.because === 'connection' ? verdict.delayMs : null;
}

function settleFailure(
  record: OutboxRecord,
  entry: Entry,
  result: AttemptResult,
  context: SettleContext & { readonly isPaused: boolean },
): void {
  const { nowMs, isPaused } = context;
  const { verdict } = result;
  noteEffect(record, entry, result);
  if (verdict.next === 'refused' && !isPaused) {
    const { error, isForbidden } = result;
    Object.assign(entry, { state: 'refused', nextAtMs: null, error, hint: verdict.hint, forbidden: isForbidden });
    noteEvent(record, { type: 'report.refused', report_id: entry.id }, nowMs);
  } else {
    const delayMs = countAttempt(entry, result, context);
    restUntilNextTry(record, entry, result, { ...context, delayMs });
  }
  if (result.task && !isPaused) openTask(record, result.task, nowMs);
}

/** A create that surely had no effect must not let an unrelated invoice webhook pass for its proof. */
function noteEffect(record: OutboxRecord, entry: Entry, { hadNoEffect }: AttemptResult): void {
  if (!hadNoEffect) notePossibleEffect(entry);
  else if (record.kind === 'tow' && entry.possibleEffects === 0) {
    entry.firstSentAtMs = null;
    entry.sentRevision = null;
  }
}

/** Counts a failure, or a hold, which is none. Returns how long to wait. */
function countAttempt(entry: Entry, result: AttemptResult, { nowMs, giveUpAfterMs }: SettleContext): number {
  const { verdict } = result;
  const delayMs = 'delayMs' in verdict ? verdict.delayMs : 0;
  const isUnanswered =
    result.isForeign || verdict.next === 'unknown' || (verdict.next === 'retry' && verdict.because === 'unanswered');
  if (verdict.next !== 'hold') {
    entry.failures += 1;
    if (verdict.next === 'retry' && verdict.because === 'not_found') entry.notFound += 1;
    if (isUnanswered) entry.unanswered += 1;
    entry.drops = 0;
    startGiveUpClock(entry, nowMs, giveUpAfterMs);
    return delayMs;
  }
  // Nothing that counts was sent. Dropped for its age now and then is no failure; again and again it is.
  entry.attempts -= 1;
  if (verdict.because === 'connection') {
    if (result.isConnectionLoss) entry.connectionLosses += 1;
    if (isUnanswered) entry.unanswered += 1;
  } else if (result.isTooOld) {
    entry.drops += 1;
    if (entry.drops >= DROPS_MAX) {
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return Math.min(DROP_WAIT_MAX_MS, DROP_WAIT_MS * 2 ** Math.min(entry.drops - DROPS_MAX, 10));
    }
  }
  return delayMs;
}

/**
 * Sets when an entry that was neither accepted nor refused comes up again: after its own wait, or, while a circuit is open, as
 * soon as that closes, but never before the moment the service asked for.
 */
function restUntilNextTry(
  record: OutboxRecord,
  entry: Entry,
  result: AttemptResult,
  { nowMs, circuits, delayMs }: SettleContext & { readonly delayMs: number },
): void {
  const { verdict } = result;
  const blocked = blocking(circuits, entry.kind, nowMs);
  entry.state = restingState(entry);
  entry.nextAtMs = nowMs + delayMs;
  entry.error = result.error;
  if (blocked && entry.state === 'pending' && ENTRY_POLICY[entry.kind].safeToRepeat) {
    entry.nextAtMs = nowMs + result.askedMs;
  }
  if (verdict.next === 'hold' && verdict.because === 'connection') {
    const waitMs = Math.max(result.askedMs, Math.min(delayMs, CONNECTION_WAIT_MAX_MS));
    entry.nextAtMs = nowMs + Math.min(waitMs + PROBE_TURN_MS, ASKED_WAIT_MAX_MS);
  }
  if (!blocked || (record.kind === 'violation' && entry.state !== 'pending')) return;
  const lookAtMs = Math.max(blocked.untilMs + PROBE_TURN_MS, entry.nextAtMs);
  blockEntry(record, entry, { name: blocked.name, lookAtMs }, nowMs);
}
