import type { Circuits } from '../service/stored-circuits';
import type { CircuitName } from '../vocabulary';
import { backoffWithoutJitterMs } from './backoff';
import {
  beginProbe,
  blocking,
  circuitForSafeProbes,
  circuitsOf,
  RECHECK_MS,
  type CircuitEffects,
} from '../service/circuits';
import {
  ENTRY_POLICY,
  logAttempt,
  countPossibleEffect,
  openUnanswered,
  stateBetweenAttempts,
  startGiveUpClock,
  unblock,
  type Entry,
} from './entry';
import { validLease } from './lease';
import { headOf, isSettled } from './outbox';
import { escalate } from './escalate-entry';
import { closeTask, editEntry, entrySubject, memberOf, addEvent, openTask, type OutboxRecord } from './outbox-record';
import { acceptEntry, settleByLateAnswer } from './settle-entry';
import { withhold, cameWhileStopped } from './withheld';
import { isProvedByInvoice } from '../tow/invoice-entries';
import { provedBeforeCorrectionTask } from '../ops/tasks';
import { HOUR_MS } from '../timestamp';
import { dependsOnTicket } from '../violation/violation';

/** The records that wait for a circuit, as far as a claim needs them. */
export interface WaitingAtCircuit {
  readonly count: number;
  /** Some of the records whose head is safe to repeat. */
  readonly probes: readonly string[];
}

/** Configuration of claims. */
export interface ClaimRules {
  /** How long a lease lasts, ms: longer than the deadline of a call, equal to the lock of its queue job. */
  readonly leaseMs: number;
  /** How long to wait for proof of an unanswered invoice or violation of the reference API, ms. */
  readonly graceMs: number;
  /** How long an entry may keep failing before it escalates, ms. */
  readonly giveUpAfterMs: number;
  /** Whether to check for an active ticket before sending a violation that depends on one; no by default. */
  readonly checksTicket?: boolean;
}

export interface ClaimContext {
  readonly settings: ClaimRules;
  readonly nowMs: number;
  readonly leaseToken: string;
  readonly attemptId: string;
  /** A draft: a probe changes it. */
  readonly circuits: Circuits;
  readonly effects: CircuitEffects;
  readonly waiting: Partial<Record<CircuitName, WaitingAtCircuit>>;
  /** The rate limit permit; `none_needed` without a rate limit. */
  readonly permit:
    | 'none_needed'
    | 'not_requested'
    | { readonly grantedAtMs: number }
    | { readonly waitUntilMs: number };
}

interface EscalatedClaim {
  readonly kind: 'escalated';
  readonly entry: Entry;
  readonly why: 'unknown' | 'given_up' | 'unchecked';
}

export type ClaimStep =
  | { readonly kind: 'send'; readonly entry: Entry }
  /** Nothing to send, or a person must decide first. */
  | { readonly kind: 'idle' | 'needs_action' }
  /** Nothing can be sent before this time. */
  | { readonly kind: 'wait' | 'busy'; readonly untilMs: number }
  /** A person must decide, and the task is open. */
  | EscalatedClaim
  /** An open circuit is due for a probe, but no entry may make it: make a token call. */
  | { readonly kind: 'probe'; readonly failedProbes: number }
  /** A rate limit permit is needed: get one and claim again. */
  | { readonly kind: 'permit'; readonly entry: Entry }
  /** Check for an active ticket first; the lease is granted. */
  | { readonly kind: 'check'; readonly entry: Entry }
  /** The violation is settled: match its tows and remove its images. */
  | { readonly kind: 'cleanup' };

/**
 * A record that may not probe a circuit runs again after the one that may. After a failed probe another record is next:
 * this one may be the only one that fails.
 */
export const PROBE_TURN_MS = 500;
/** Records that have not probed a due circuit for this long may be damaged, or of a later version. */
const PROBE_OVERDUE_MS = 20_000;
/**
 * How many blocked records run by themselves when a circuit may be probed. The others are picked or released, to
 * avoid a thundering herd.
 */
const SELF_WAKING_MAX = 5;
/** A record whose permit is further ahead asks for it again after this, and keeps its place in the queue. */
const PERMIT_WAIT_MAX_MS = HOUR_MS;
/** The waits of an entry that keeps losing its worker. */
const LOST_WAIT = { retryBaseMs: 500, retryCapMs: 60_000 };

/**
 * Decides what a worker may do with a record now, and grants the right to do it: the lease and, before a call is
 * made, the attempt in flight. Changes `record`, `context.circuits` and `context.effects`.
 */
export function claim(record: OutboxRecord, context: ClaimContext): ClaimStep {
  const { nowMs } = context;
  const lease = validLease(record, nowMs);
  if (lease) {
    if (lease.token !== context.leaseToken) return { kind: 'busy', untilMs: lease.untilMs };
    // The reply to this same claim was lost. If the entry was settled meanwhile, nothing was sent for it.
    const mine = record.entries.find(({ attemptId }) => attemptId === context.attemptId);
    if (mine && !isSettled(mine.state)) return { kind: 'send', entry: mine };
    if (mine) editEntry(record, mine).attemptId = null;
  }
  expireLostAttempt(record, context);
  if (record.kind === 'violation' && headOf(record.entries) === undefined && record.cleanupSince !== null) {
    return { kind: 'cleanup' };
  }
  const head = settleProved(record, nowMs);
  record.runAtMs = null;
  if (!head) return { kind: 'idle' };
  if (head.state === 'refused' && head.forbidden && context.circuits.open[`paused.${head.kind}`]) {
    // It was refused alone, before the operation was found to be forbidden for all.
    head.state = stateBetweenAttempts(head);
    head.nextAtMs = nowMs;
    head.forbidden = false;
    closeTask(record, entrySubject(record, head));
  }
  return decideSend(record, head, context);
}

function decideSend(record: OutboxRecord, head: Entry, context: ClaimContext): ClaimStep {
  const { nowMs, circuits } = context;
  if (head.state === 'refused' || head.state === 'held' || head.nextAtMs === null)
    return waitWith(head, nowMs, { kind: 'needs_action' });
  const isGiveUpTime = () => head.giveUpAtMs !== null && head.giveUpAtMs <= nowMs;
  const isUnknown = head.state === 'unknown';
  if (head.nextAtMs > nowMs) {
    // What waits for its proof is not given up: after that wait it escalates anyway, or is sent once more.
    if (isGiveUpTime() && head.blockedSinceMs === null && !isUnknown) return giveUp(record, head, nowMs);
    return waitWith(head, nowMs, { kind: 'wait', untilMs: head.nextAtMs });
  }
  if (isUnknown && openUnanswered(head) >= ENTRY_POLICY[head.kind].unansweredMax) {
    return escalateHead(record, head, 'unknown', nowMs);
  }
  if (cameWhileStopped(head, circuits)) withhold(record);
  if (record.withheld === 'held') return waitWith(head, nowMs, { kind: 'needs_action' });
  const blocked = blocking(circuits, head.kind, nowMs);
  if (blocked) return block(record, head, { ...blocked, isProbeTurn: false }, context);
  const otherProbe = stepOfOtherProbe(record, head, context);
  if (otherProbe) return otherProbe;
  unblock(head, nowMs);
  if (isGiveUpTime()) return giveUp(record, head, nowMs);
  if (record.kind === 'violation' && context.settings.checksTicket && dependsOnTicket(record.violation.form)) {
    if (record.ticket === null && !record.ticketOverruled) {
      head.waitsFor = null;
      takeLease(record, context);
      return { kind: 'check', entry: head };
    }
  }
  const { permit } = context;
  if (permit === 'not_requested') return { kind: 'permit', entry: head };
  if (typeof permit === 'object' && 'waitUntilMs' in permit) {
    head.waitsFor = 'budget';
    record.runAtMs = Math.min(permit.waitUntilMs, nowMs + PERMIT_WAIT_MAX_MS);
    return { kind: 'wait', untilMs: record.runAtMs };
  }
  // This entry alone probes the circuits that were open until now.
  const lasting = { nowMs, leaseMs: context.settings.leaseMs };
  for (const name of circuitsOf(head.kind)) beginProbe(circuits, name, memberOf(record), lasting, context.effects);
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

function takeLease(record: OutboxRecord, { leaseToken, settings, nowMs, permit }: ClaimContext): void {
  const permitAtMs = typeof permit === 'object' && 'grantedAtMs' in permit ? permit.grantedAtMs : undefined;
  record.lease = {
    token: leaseToken,
    untilMs: nowMs + settings.leaseMs,
    ...(permitAtMs === undefined ? {} : { permitAtMs }),
  };
}

/** Closes the attempt of an expired lease. Its outcome is unknown. */
function expireLostAttempt(record: OutboxRecord, context: ClaimContext): void {
  const { nowMs } = context;
  record.lease = null;
  const lost = record.entries.find(({ attemptId }) => attemptId !== null);
  if (!lost || lost.attemptId === null) return;
  const entry = editEntry(record, lost);
  logAttempt(entry, { attempt_id: lost.attemptId, outcome: 'worker_lost', ended_at_ms: nowMs });
  entry.attemptId = null;
  if (isSettled(entry.state)) return;
  if (settleByLateAnswer(record, entry, nowMs)) return;
  entry.error = { http_status: null, message: 'the worker was lost while sending' };
  entry.unanswered += 1;
  countPossibleEffect(entry);
  startGiveUpClock(entry, nowMs, context.settings.giveUpAfterMs);
  entry.failures += 1;
  if (!ENTRY_POLICY[entry.kind].safeToRepeat) {
    entry.state = 'unknown';
    entry.nextAtMs = nowMs + graceOf(record, context.settings.graceMs);
    if (record.kind === 'tow') addEvent(record, { type: 'report.unknown', report_id: entry.id }, nowMs);
  } else if (entry.failures > 1) {
    // A backoff, so that an entry that kills its worker does not do so at once again.
    entry.nextAtMs = nowMs + backoffWithoutJitterMs(entry.failures, LOST_WAIT);
  }
}

/**
 * How long to wait for proof of a create, ms. A violation is proved by a tow request that echoes its id; the guide form
 * sends no id, so there is nothing to wait for.
 */
export function graceOf(record: OutboxRecord, graceMs: number): number {
  return record.kind === 'violation' && record.violation.api === 'guide' ? 0 : graceMs;
}

/** Settles proved entries. Returns the remaining head, for editing. */
function settleProved(record: OutboxRecord, nowMs: number): Entry | undefined {
  for (;;) {
    const stored = headOf(record.entries);
    const head = stored && editEntry(record, stored);
    if (!head || record.kind !== 'tow' || !isProvedByInvoice(record, head)) return head;
    unblock(head, nowMs);
    if (head.sentRevision !== head.revision) openTask(record, provedBeforeCorrectionTask, nowMs);
    acceptEntry(record, head, 'proved_by_webhook', nowMs);
  }
}

function waitWith(head: Entry, nowMs: number, step: ClaimStep): ClaimStep {
  unblock(head, nowMs);
  if (head.waitsFor === 'budget') head.waitsFor = null;
  return step;
}

function giveUp(record: OutboxRecord, head: Entry, nowMs: number): ClaimStep {
  if (head.state === 'unknown') return escalateHead(record, head, 'unknown', nowMs);
  return escalateHead(record, head, head.ticketFailures > 0 ? 'unchecked' : 'given_up', nowMs);
}

function escalateHead(record: OutboxRecord, head: Entry, why: EscalatedClaim['why'], nowMs: number): ClaimStep {
  escalate(record, head, { why }, nowMs);
  return { kind: 'escalated', entry: head, why };
}

function block(
  record: OutboxRecord,
  head: Entry,
  by: { name: CircuitName; untilMs: number; isProbeTurn: boolean },
  { nowMs, waiting }: ClaimContext,
): ClaimStep {
  const isAlone = (waiting[by.name]?.count ?? 0) < SELF_WAKING_MAX;
  blockEntry(
    record,
    head,
    { name: by.name, runAtMs: by.isProbeTurn || isAlone ? by.untilMs : nowMs + RECHECK_MS },
    nowMs,
  );
  return { kind: 'wait', untilMs: by.untilMs };
}

/** Lets a record wait for a circuit until that closes or the record may probe it. */
export function blockEntry(
  record: OutboxRecord,
  entry: Entry,
  by: { readonly name: CircuitName; readonly runAtMs: number },
  nowMs: number,
): void {
  entry.blockedSinceMs ??= nowMs;
  entry.waitsFor = by.name;
  record.runAtMs = by.runAtMs;
}

/**
 * Returns the step of a record that may not probe an outage; null when it may. A probe must be safe to repeat, and
 * never comes twice in a row from the same record. If no record may make it, or none has, the token call does.
 */
function stepOfOtherProbe(record: OutboxRecord, head: Entry, context: ClaimContext): ClaimStep | null {
  const { circuits, effects, nowMs } = context;
  const { leaseMs } = context.settings;
  const name = circuitForSafeProbes(circuits);
  if (!name) return null;
  const lastProbe = name === 'outage' ? circuits.open.outage?.lastProbe : null;
  const mine = memberOf(record);
  if (ENTRY_POLICY[head.kind].safeToRepeat && lastProbe !== mine) return null;
  const other = context.waiting[name]?.probes.find((probe) => probe !== mine && probe !== lastProbe);
  const isOverdue = nowMs - (circuits.open[name]?.untilMs ?? nowMs) > PROBE_OVERDUE_MS;
  if (other !== undefined && !isOverdue) {
    effects.due.push(other);
    return block(record, head, { name, untilMs: nowMs + PROBE_TURN_MS, isProbeTurn: true }, context);
  }
  const failedProbes = circuits.open[name]?.failures ?? 0;
  beginProbe(circuits, name, 'token', { nowMs, leaseMs }, effects);
  block(record, head, { name, untilMs: nowMs + leaseMs, isProbeTurn: true }, context);
  return { kind: 'probe', failedProbes };
}
