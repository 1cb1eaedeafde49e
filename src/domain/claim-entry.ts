import {
  beginTry,
  blocking,
  circuitForSafeTries,
  circuitsFor,
  type CircuitEffects,
  type CircuitName,
  type Circuits,
} from './circuits';
import {
  ENTRY_POLICY,
  headOf,
  isEntrySettled,
  logAttempt,
  notePossibleEffect,
  openOutcomes,
  restingState,
  startGiveUpClock,
  unblock,
  type Entry,
} from './entry';
import { escalate, type Escalation } from './escalate-entry';
import { closeTask, entryTaskId, memberOf, noteEvent, openTask, type OutboxRecord } from './outbox-record';
import { acceptEntry } from './settle-entry';
import { compareInvoices } from './compare-invoices';
import { isProvedByInvoice } from './invoice-proof';
import { provedBeforeCorrectionTask } from './tasks';
import { dependsOnTicket } from './violation';

/** What waits for a circuit, as far as a claim needs to know. */
export interface WaitingAtCircuit {
  readonly count: number;
  /** Some of those whose head is safe to repeat. */
  readonly probes: readonly string[];
}

export interface ClaimContext {
  readonly nowMs: number;
  readonly leaseMs: number;
  readonly leaseToken: string;
  readonly attemptId: string;
  /** How long proof of an unanswered invoice, or of an unanswered violation, is waited for. */
  readonly unknownGraceMs: number;
  readonly proofMs: number;
  readonly giveUpAfterMs: number;
  /** Whether the service is asked for an active ticket before a violation that depends on one. */
  readonly checksTicket: boolean;
  /** Whether a token is at hand; without one a violation is not sent yet. */
  readonly hasToken: boolean;
  /** A draft: a try changes it. */
  readonly circuits: Circuits;
  readonly effects: CircuitEffects;
  readonly waiting: Partial<Record<CircuitName, WaitingAtCircuit>>;
  /** The permit of the rate limit; `none_needed` without one. */
  readonly permit: 'none_needed' | 'not_asked' | { readonly grantedAtMs: number } | { readonly waitUntilMs: number };
}

export type ClaimStep =
  | { readonly kind: 'send'; readonly entry: Entry }
  /** Nothing is owed, or a person must decide first. */
  | { readonly kind: 'idle' | 'held' }
  /** Nothing can be sent before this moment. */
  | { readonly kind: 'wait' | 'busy'; readonly untilMs: number }
  /** A person must decide; the task is open. */
  | ({ readonly kind: 'escalated'; readonly entry: Entry } & Escalation)
  /** An open circuit may be tried, and no entry may try it: make the token call. */
  | { readonly kind: 'probe'; readonly failedProbes: number }
  /** A permit of the rate limit is needed: ask for one and claim again. */
  | { readonly kind: 'permit'; readonly entry: Entry }
  /** A token is needed before a permit is taken: get one and claim again. */
  | { readonly kind: 'token_first' }
  /** The service is to be asked for an active ticket first; the lease is taken. */
  | { readonly kind: 'check'; readonly entry: Entry }
  /** The violation is settled: its tows are to be joined, its images to be dropped. */
  | { readonly kind: 'finish' };

/** A record that may not try a circuit itself looks again after the one that may has had its turn. */
const TURN_MS = 500;
/** How many of those that a circuit blocks look by themselves when it may be tried; the others are picked or released. */
const LOOKING_MAX = 5;
const LOOK_AGAIN_MS = 600_000;
/** Longer than any lease. */
const LEASE_MAX_MS = 600_000;
const LOST_WAIT_MS = 500;
const LOST_WAIT_MAX_MS = 60_000;

/**
 * Decides what a worker may do with a record now, and takes the right to do it: the lease, and the attempt in flight before
 * a call leaves. Changes `record`, `context.circuits` and `context.effects`.
 */
export function claim(record: OutboxRecord, context: ClaimContext): ClaimStep {
  const { nowMs } = context;
  if (record.lease && isLeaseValid(record.lease.untilMs, context)) {
    if (record.lease.token !== context.leaseToken) return { kind: 'busy', untilMs: record.lease.untilMs };
    // The reply of this very claim was lost. If the entry was settled meanwhile, nothing was sent for it.
    const mine = record.entries.find(({ attemptId }) => attemptId === context.attemptId);
    if (mine && !isEntrySettled(mine)) return { kind: 'send', entry: mine };
    if (mine) mine.attemptId = null;
  }
  loseAttempt(record, context);
  if (record.kind === 'violation' && record.entries.every(isEntrySettled) && record.unfinishedSince !== null) {
    return { kind: 'finish' };
  }
  const head = settleProved(record, nowMs);
  record.lookAtMs = null;
  if (!head) return { kind: 'idle' };
  if (head.state === 'refused' && head.forbidden && context.circuits.open[`paused.${head.kind}`]) {
    // Refused for itself before the whole operation was found forbidden.
    head.state = restingState(head);
    head.nextAtMs = nowMs;
    head.forbidden = false;
    closeTask(record, entryTaskId(record, head));
  }
  return whetherToSend(record, head, context);
}

function whetherToSend(record: OutboxRecord, head: Entry, context: ClaimContext): ClaimStep {
  const { nowMs, circuits } = context;
  if (head.state === 'refused' || head.state === 'held' || head.nextAtMs === null)
    return rest(head, nowMs, { kind: 'held' });
  const isGivenUp = () => head.giveUpAtMs !== null && head.giveUpAtMs <= nowMs;
  const isUnknown = head.state === 'unknown';
  if (head.nextAtMs > nowMs) {
    if (isGivenUp() && head.blockedSinceMs === null) return giveUp(record, head, nowMs);
    return rest(head, nowMs, { kind: 'wait', untilMs: head.nextAtMs });
  }
  if (isUnknown && openOutcomes(head) >= ENTRY_POLICY[head.kind].unansweredMax) {
    return handOver(record, head, 'unknown', nowMs);
  }
  const blocked = blocking(circuits, head.kind, nowMs);
  if (blocked) return block(record, head, { ...blocked, looks: false }, context);
  const otherTry = otherRecordTries(record, head, context);
  if (otherTry) return otherTry;
  unblock(head, nowMs);
  if (isGivenUp()) return giveUp(record, head, nowMs);
  if (record.kind === 'violation' && context.checksTicket && dependsOnTicket(record.violation.form)) {
    if (record.ticket === null && !record.ticketOverruled) {
      head.waitsFor = null;
      takeLease(record, context);
      return { kind: 'check', entry: head };
    }
  }
  const { permit } = context;
  if (permit === 'not_asked') return { kind: 'permit', entry: head };
  if (typeof permit === 'object' && 'waitUntilMs' in permit) {
    head.waitsFor = 'budget';
    record.lookAtMs = permit.waitUntilMs;
    return { kind: 'wait', untilMs: permit.waitUntilMs };
  }
  if (!context.hasToken) return { kind: 'token_first' };
  // This entry alone tries the circuits that were open until now.
  for (const name of circuitsFor(head.kind)) beginTry(circuits, name, memberOf(record), context, context.effects);
  beginAttempt(record, head, context);
  takeLease(record, context);
  return { kind: 'send', entry: head };
}

function beginAttempt(record: OutboxRecord, head: Entry, { nowMs, attemptId }: ClaimContext): void {
  head.attemptId = attemptId;
  head.waitsFor = null;
  head.attempts += 1;
  head.ticketFailures = 0;
  if (ENTRY_POLICY[head.kind].safeToRepeat) return;
  head.state = 'sending';
  if (record.kind !== 'tow' || head.firstSentAtMs !== null) return;
  head.firstSentAtMs = nowMs;
  head.sentRevision = head.revision;
  // An invoice webhook from before the first request proves nothing.
  record.proofAtMs = null;
}

/** A lease further ahead than any that is given comes from a clock that jumped, and is ignored. */
function isLeaseValid(untilMs: number, { nowMs }: ClaimContext): boolean {
  return untilMs > nowMs && untilMs <= nowMs + LEASE_MAX_MS;
}

function takeLease(record: OutboxRecord, { leaseToken, leaseMs, nowMs, permit }: ClaimContext): void {
  const permitAtMs = typeof permit === 'object' && 'grantedAtMs' in permit ? permit.grantedAtMs : undefined;
  record.lease = { token: leaseToken, untilMs: nowMs + leaseMs, ...(permitAtMs === undefined ? {} : { permitAtMs }) };
}

/** The attempt of a worker that died or froze: whether its bytes arrived is unknown. */
function loseAttempt(record: OutboxRecord, context: ClaimContext): void {
  const { nowMs } = context;
  record.lease = null;
  const entry = record.entries.find(({ attemptId }) => attemptId !== null);
  if (!entry || entry.attemptId === null) return;
  logAttempt(entry, { attempt_id: entry.attemptId, outcome: 'worker_lost', ended_at_ms: nowMs });
  entry.attemptId = null;
  if (isEntrySettled(entry)) return;
  if (settleByLateAnswer(record, entry, nowMs)) return;
  entry.error = { http_status: null, message: 'the worker was lost while sending' };
  entry.unanswered += 1;
  notePossibleEffect(entry);
  startGiveUpClock(entry, nowMs, context.giveUpAfterMs);
  entry.failures += 1;
  if (!ENTRY_POLICY[entry.kind].safeToRepeat) {
    entry.state = 'unknown';
    entry.nextAtMs = nowMs + graceOf(record, context);
    noteEvent(record, { type: 'report.unknown', report_id: entry.id }, nowMs);
  } else if (entry.failures > 1) {
    // What keeps ending its worker must not do so at once again.
    entry.nextAtMs = nowMs + Math.min(LOST_WAIT_MAX_MS, LOST_WAIT_MS * 2 ** Math.min(entry.failures, 10));
  }
}

/** How long proof of a create is waited for; what no tow request can prove is asked about at once. */
function graceOf(record: OutboxRecord, { unknownGraceMs, proofMs }: ClaimContext): number {
  if (record.kind === 'tow') return unknownGraceMs;
  return record.violation.api === 'reference' ? proofMs : 0;
}

/** Settles what is proved; returns the head that is left. */
function settleProved(record: OutboxRecord, nowMs: number): Entry | undefined {
  for (;;) {
    const head = headOf(record.entries);
    if (!head || record.kind !== 'tow' || !isProvedByInvoice(record, head)) return head;
    unblock(head, nowMs);
    if (head.sentRevision !== head.revision) openTask(record, provedBeforeCorrectionTask, nowMs);
    acceptEntry(record, head, 'proved_by_webhook', nowMs);
  }
}

function rest(head: Entry, nowMs: number, step: ClaimStep): ClaimStep {
  unblock(head, nowMs);
  if (head.waitsFor === 'budget') head.waitsFor = null;
  return step;
}

function giveUp(record: OutboxRecord, head: Entry, nowMs: number): ClaimStep {
  if (head.state === 'unknown') return handOver(record, head, 'unknown', nowMs);
  return handOver(record, head, head.ticketFailures > 0 ? 'unchecked' : 'given_up', nowMs);
}

function handOver(record: OutboxRecord, head: Entry, why: Escalation['why'], nowMs: number): ClaimStep {
  unblock(head, nowMs);
  escalate(record, head, why, nowMs);
  return { kind: 'escalated', entry: head, why };
}

function block(
  record: OutboxRecord,
  head: Entry,
  by: { name: CircuitName; untilMs: number; looks: boolean },
  { nowMs, waiting }: ClaimContext,
): ClaimStep {
  const isAlone = (waiting[by.name]?.count ?? 0) < LOOKING_MAX;
  blockEntry(
    record,
    head,
    { name: by.name, lookAtMs: by.looks || isAlone ? by.untilMs : nowMs + LOOK_AGAIN_MS },
    nowMs,
  );
  return { kind: 'wait', untilMs: by.untilMs };
}

/** Lets a record wait for a circuit, until that closes or it is its turn to try. */
export function blockEntry(
  record: OutboxRecord,
  entry: Entry,
  by: { readonly name: CircuitName; readonly lookAtMs: number },
  nowMs: number,
): void {
  entry.blockedSinceMs ??= nowMs;
  entry.waitsFor = by.name;
  record.lookAtMs = by.lookAtMs;
}

/** An outage is tried by a call that is safe to repeat, never twice in a row by the same record. Null: this entry tries. */
function otherRecordTries(record: OutboxRecord, head: Entry, context: ClaimContext): ClaimStep | null {
  const { circuits, effects, nowMs, leaseMs } = context;
  const name = circuitForSafeTries(circuits);
  if (!name) return null;
  const lastProbe = name === 'outage' ? circuits.open.outage?.lastProbe : null;
  const mine = memberOf(record);
  if (ENTRY_POLICY[head.kind].safeToRepeat && lastProbe !== mine) return null;
  const other = context.waiting[name]?.probes.find((probe) => probe !== mine && probe !== lastProbe);
  if (other !== undefined) {
    effects.due.push(other);
    return block(record, head, { name, untilMs: nowMs + TURN_MS, looks: true }, context);
  }
  const failedProbes = circuits.open[name]?.failures ?? 0;
  beginTry(circuits, name, 'token', { nowMs, leaseMs }, effects);
  block(record, head, { name, untilMs: nowMs + leaseMs, looks: true }, context);
  return { kind: 'probe', failedProbes };
}

/** An accepted answer that came while another attempt was under way settles the entry once that ended without one. */
export function settleByLateAnswer(record: OutboxRecord, entry: Entry, nowMs: number): boolean {
  if (!entry.lateAnswer) return false;
  const { answer, rawBody, task } = entry.lateAnswer;
  Object.assign(entry, { answer, rawBody, deliveredAtMs: nowMs, lateAnswer: null });
  if (record.kind === 'tow') compareInvoices(record, entry, nowMs);
  acceptEntry(record, entry, 'late_answer', nowMs);
  if (task && record.kind === 'violation') record.isAnswerQuestioned = true;
  if (task) openTask(record, task, nowMs);
  return true;
}
