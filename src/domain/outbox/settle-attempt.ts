import type { Circuits } from '../service/stored-circuits';
import {
  hasSentBody,
  isForeign,
  isTooOld,
  loggedAttempt,
  wasAnswered,
  type AttemptResult,
  type EndedAttempt,
} from './attempt';
import { ASKED_WAIT_MAX_MS, backoffWithoutJitterMs } from './backoff';
import { change } from '../change';
import { blockEntry, PROBE_TURN_MS } from './claim-entry';
import {
  blocking,
  loseConnection,
  applyAnswer,
  countFailure,
  countForbidden,
  type CircuitEffects,
} from '../service/circuits';
import {
  ENTRY_POLICY,
  logAttempt,
  countPossibleEffect,
  stateBetweenAttempts,
  startGiveUpClock,
  type AcceptingAnswer,
  type Entry,
} from './entry';
import { causeOf, errorOf, messageOf } from './exchange-message';
import type { AttemptRight } from './lease';
import { isSettled } from './outbox';
import { editEntry, memberOf, addEvent, openTask, recordIdOf, type OutboxRecord } from './outbox-record';
import { isConnectionLoss, surelyHadNoEffect, type Exchange } from '../service/policy';
import { askedMs, isForbidden, serviceHealth } from '../service/service-health';
import { acceptEntry, keepAcceptingAnswer, requestCleanup, settleByLateAnswer } from './settle-entry';
import {
  connectionTask,
  outageTask,
  pausedOperationTask,
  provedBeforeCorrectionTask,
  beforeCorrectionTask,
} from '../ops/tasks';

interface SettleContext {
  readonly nowMs: number;
  readonly giveUpAfterMs: number;
  /** Drafts. */
  readonly circuits: Circuits;
  readonly effects: CircuitEffects;
  /** Stores the rest of an accepted answer, such as the service's reference of a violation. */
  readonly keepAnswer: (record: OutboxRecord) => void;
}

/**
 * What was stored of the result of an attempt.
 *
 * - done: the result, be it an acceptance, a refusal or a failure.
 * - late: the lease was lost or the body is another one. The attempt does not settle the entry; its answer may be kept,
 *   and a possible effect counted.
 * - late_accepted: late, but the answer settled the entry.
 * - gone: there is no such entry.
 */
export type StoredResult = 'done' | 'late' | 'late_accepted' | 'gone';

/** True when the result of an attempt decides about its entry. */
export function isApplied(stored: StoredResult): boolean {
  return stored === 'done' || stored === 'late_accepted';
}

const CONNECTION_WAIT_MAX_MS = 30_000;
const DROPS_MAX = 3;
/** Stored as the revision that was sent, when that was lost: a proof then asks a person about the body. */
const BEFORE_ANY_REVISION = 0;
const DROP_WAIT = { retryBaseMs: 1000, retryCapMs: 60_000 };

/**
 * Stores the result of one attempt and gives the lease back. Changes `record`, `context.circuits` and
 * `context.effects`.
 */
export function settleAttempt(
  record: OutboxRecord,
  right: AttemptRight,
  result: AttemptResult,
  context: SettleContext,
): StoredResult {
  const { circuits, effects } = context;
  const stored = record.entries.find(({ seq }) => seq === right.entry.seq);
  // A failover may lose an entry whose call has left, and another fact then gets its number.
  if (!stored || stored.id !== right.entry.id) return 'gone';
  const entry = editEntry(record, stored);
  const ended = { right, result };
  const { exchange } = result;
  const outcome = result.verdict.next;
  const logged = entry.log.filter(({ attempt_id: id }) => id === right.attemptId);
  if (outcome !== 'hold') logAttempt(entry, loggedAttempt(ended, outcome));
  const isAlive = serviceHealth(exchange) === 'alive';
  const answer = { kind: entry.kind, wasAnswered: wasAnswered(ended), isAlive, isForbidden: isForbidden(exchange) };
  applyAnswer(circuits, answer, effects);
  const isSameBody = hasSentBody(record, entry, right);
  const isOurs = isSameBody && entry.attemptId === right.attemptId && record.lease?.token === right.leaseToken;
  if (!isOurs) {
    // The reply to the commit that stored this answer was lost.
    if (logged.some((attempt) => attempt.outcome === 'accepted')) return 'late';
    if (outcome === 'accepted') return settleLate(record, entry, { result, isSameBody }, context);
    if (logged.length === 0) countLostClaim(record, entry, { ...ended, isSameBody }, context.nowMs);
    return 'late';
  }
  record.lease = null;
  entry.attemptId = null;
  const isPaused = updateCircuits(record, entry, ended, context);
  const wasSettled = isSettled(entry.state);
  if (outcome === 'accepted') {
    keepAnswer(record, entry, result, context);
    if (!wasSettled) acceptEntry(record, entry, 'answered', context.nowMs);
  } else if (!wasSettled && !settleByLateAnswer(record, entry, context.nowMs)) {
    settleFailure(record, entry, ended, { ...context, isPaused });
  }
  return 'done';
}

/**
 * Counts a create whose claim was lost with the last writes of Redis, and that may have taken effect: it is not sent again
 * as if it had never left.
 */
function countLostClaim(
  record: OutboxRecord,
  entry: Entry,
  { result, isSameBody }: EndedAttempt & { readonly isSameBody: boolean },
  nowMs: number,
): void {
  if (surelyHadNoEffect(result.exchange) || isSettled(entry.state) || ENTRY_POLICY[entry.kind].safeToRepeat) return;
  entry.unanswered += 1;
  entry.sentRevision ??= isSameBody ? entry.revision : BEFORE_ANY_REVISION;
  countPossibleEffect(entry);
  if (record.kind === 'tow') entry.firstSentAtMs ??= nowMs;
  if (entry.attemptId !== null || entry.nextAtMs === null) return;
  entry.state = 'unknown';
  if (record.kind === 'tow') addEvent(record, { type: 'report.unknown', report_id: entry.id }, nowMs);
  entry.nextAtMs = nowMs + ('delayMs' in result.verdict ? result.verdict.delayMs : 0);
}

/**
 * Settles an entry by an accepted answer that came after its lease. An answer to another body settles a create only: the
 * service has one, and must not get another.
 */
function settleLate(
  record: OutboxRecord,
  entry: Entry,
  { result, isSameBody }: { readonly result: AttemptResult; readonly isSameBody: boolean },
  context: SettleContext,
): StoredResult {
  if (!isSameBody && ENTRY_POLICY[entry.kind].safeToRepeat) return 'late';
  if (isSettled(entry.state)) {
    // A person or a webhook settled it meanwhile. The reference in the answer still matches tows.
    if (entry.deliveredAtMs === null) keepAnswer(record, entry, result, context);
    if (record.kind === 'violation') requestCleanup(record);
    return 'late';
  }
  if (!isSameBody) {
    const task = record.kind === 'tow' ? provedBeforeCorrectionTask : beforeCorrectionTask(record.id);
    openTask(record, task, context.nowMs);
  }
  if (entry.attemptId !== null) {
    entry.lateAnswer = acceptingAnswer(result, context.nowMs);
    // The reference in the answer is valid, no matter how the other attempt ends.
    context.keepAnswer(record);
    return 'late';
  }
  keepAnswer(record, entry, result, context);
  acceptEntry(record, entry, 'late_answer', context.nowMs);
  return 'late_accepted';
}

function keepAnswer(record: OutboxRecord, entry: Entry, result: AttemptResult, context: SettleContext): void {
  keepAcceptingAnswer(record, entry, acceptingAnswer(result, context.nowMs), context.nowMs);
  context.keepAnswer(record);
}

function acceptingAnswer({ answer, rawBody }: AttemptResult, nowMs: number): AcceptingAnswer {
  return { answer, rawBody, deliveredAtMs: nowMs };
}

/** Updates the circuits after an attempt. Returns true when its operation is paused now. */
function updateCircuits(
  record: OutboxRecord,
  entry: Entry,
  { right, result }: EndedAttempt,
  { circuits, effects, nowMs }: SettleContext,
): boolean {
  const { exchange } = result;
  const [message, cause] = [messageOf(exchange), causeOf(exchange)];
  const { kind } = entry;
  const member = memberOf(record);
  const pausedTask = pausedOperationTask(kind, message);
  const isPaused =
    isForbidden(exchange) && countForbidden(circuits, { kind, member, task: pausedTask }, nowMs, effects);
  const delayMs = connectionDelayOf(result);
  if (delayMs !== null) {
    const id = recordIdOf(record);
    const metBy = kind === 'violation' ? { violationId: id } : { kind, towingReference: id };
    const task = connectionTask(message, metBy);
    const failures = right.connectionFailures + 1;
    loseConnection(circuits, { delayMs, failures, isSafeOnly: isForeign(exchange), task, cause }, nowMs, effects);
  } else if (serviceHealth(exchange) === 'failing') {
    const failed = { member, delayMs: result.outageDelayMs, task: outageTask(message), cause };
    countFailure(circuits, failed, nowMs, effects);
  }
  return isPaused;
}

/** The wait before the connection is probed, ms; null when the attempt shows no connection fault. */
function connectionDelayOf({ verdict }: AttemptResult): number | null {
  if (verdict.next === 'unknown') return verdict.connectionDelayMs ?? null;
  return verdict.next === 'hold' && verdict.because === 'connection' ? verdict.delayMs : null;
}

function settleFailure(
  record: OutboxRecord,
  entry: Entry,
  ended: EndedAttempt,
  context: SettleContext & { readonly isPaused: boolean },
): void {
  const { nowMs, isPaused } = context;
  const { result } = ended;
  const { exchange, verdict } = result;
  countEffect(record, entry, exchange);
  if (verdict.next === 'refused' && !isPaused) {
    change(entry, { state: 'refused', nextAtMs: null, error: errorOf(exchange), hint: verdict.hint });
    entry.forbidden = isForbidden(exchange);
    if (record.kind === 'tow') addEvent(record, { type: 'report.refused', report_id: entry.id }, nowMs);
  } else {
    const { unanswered } = entry;
    const delayMs = countOutcome(entry, ended, context);
    scheduleNextAttempt(record, entry, result, { ...context, delayMs });
    if (entry.state === 'unknown' && entry.unanswered > unanswered) {
      if (record.kind === 'tow') addEvent(record, { type: 'report.unknown', report_id: entry.id }, nowMs);
    }
  }
  if (result.task && !isPaused) openTask(record, result.task, nowMs);
}

/**
 * Counts a possible effect. After a create without effect, an unrelated invoice webhook must not count as its proof.
 */
function countEffect(record: OutboxRecord, entry: Entry, exchange: Exchange): void {
  if (!surelyHadNoEffect(exchange)) countPossibleEffect(entry);
  else if (record.kind === 'tow' && entry.possibleEffects === 0) {
    entry.firstSentAtMs = null;
    entry.sentRevision = null;
  }
}

/**
 * Counts the outcome of an attempt that was not accepted. A `hold` is no failure of the entry, but claims that expire
 * repeatedly start the time after which it is given up. Returns the wait, ms.
 */
function countOutcome(entry: Entry, { right, result }: EndedAttempt, { nowMs, giveUpAfterMs }: SettleContext): number {
  const { exchange, verdict } = result;
  const delayMs = 'delayMs' in verdict ? verdict.delayMs : 0;
  const isUnanswered =
    isForeign(exchange) || verdict.next === 'unknown' || (verdict.next === 'retry' && verdict.because === 'unanswered');
  if (verdict.next !== 'hold') {
    entry.failures += 1;
    if (verdict.next === 'retry' && verdict.because === 'not_found') entry.notFound += 1;
    if (isUnanswered) entry.unanswered += 1;
    entry.drops = 0;
    startGiveUpClock(entry, nowMs, giveUpAfterMs);
    return delayMs;
  }
  // The report was not judged: it was not sent, its token was refused, or something else than the service answered. Faults
  // of the connection count in its circuit, and what a foreign 2xx may have done as unanswered.
  entry.attempts -= 1;
  if (verdict.because === 'connection') {
    if (isConnectionLoss(exchange, right.connectionFailures)) entry.connectionLosses += 1;
    if (isUnanswered) entry.unanswered += 1;
  } else if (isTooOld(exchange)) {
    // A claim that expires once in a while is no failure; repeated expiry is.
    entry.drops += 1;
    if (entry.drops >= DROPS_MAX) {
      startGiveUpClock(entry, nowMs, giveUpAfterMs);
      return backoffWithoutJitterMs(entry.drops - DROPS_MAX, DROP_WAIT);
    }
  }
  return delayMs;
}

/**
 * Schedules an entry that was neither accepted nor refused: after its own wait, or, behind an open circuit, as soon
 * as that closes, but never before the time that the service requested.
 */
function scheduleNextAttempt(
  record: OutboxRecord,
  entry: Entry,
  { exchange, verdict }: AttemptResult,
  { nowMs, circuits, delayMs }: SettleContext & { readonly delayMs: number },
): void {
  const requestedMs = askedMs(exchange, nowMs);
  const blocked = blocking(circuits, entry.kind, nowMs);
  entry.state = stateBetweenAttempts(entry);
  entry.nextAtMs = nowMs + delayMs;
  entry.error = errorOf(exchange);
  if (blocked && entry.state === 'pending' && ENTRY_POLICY[entry.kind].safeToRepeat) {
    entry.nextAtMs = nowMs + requestedMs;
  }
  if (verdict.next === 'hold' && verdict.because === 'connection') {
    const waitMs = Math.max(requestedMs, Math.min(delayMs, CONNECTION_WAIT_MAX_MS));
    entry.nextAtMs = nowMs + Math.min(waitMs + PROBE_TURN_MS, ASKED_WAIT_MAX_MS);
  }
  if (!blocked && entry.state === 'pending' && verdict.next === 'retry' && verdict.because === 'throttled') {
    // It waits in line with the others of its budget, which is closed until then.
    change(entry, { waitsFor: 'budget', nextAtMs: nowMs });
    record.runAtMs = nowMs + delayMs;
  }
  if (!blocked || (record.kind === 'violation' && entry.state !== 'pending')) return;
  const runAtMs = Math.max(blocked.untilMs + PROBE_TURN_MS, entry.nextAtMs);
  blockEntry(record, entry, { name: blocked.name, runAtMs }, nowMs);
}
