import { isSettled } from './outbox';
import type { ReleaseBlocker } from './release-checklist';
import { TRANSITIONS, type TransitionEvent } from './tow';
import {
  PAUSABLE_OPERATIONS,
  type PausableOperation,
  type ReportKind,
  type ReportState,
  type TowState,
} from './vocabulary';

/**
 * Why something is waiting, or that it is not: one tagged union, for one sentence on a page. Pure: says what the records
 * say, and never what is hoped for. Moments are ms since the epoch.
 */

/** What holds sending, whichever report it is for. */
export type Gate =
  | { readonly kind: 'connection' | 'outage' | 'budget' }
  /** The service forbids the operation (403). */
  | { readonly kind: 'paused'; readonly operation: PausableOperation };

/** What an attempt ended with; `message` may quote the service. */
export interface LastError {
  readonly http_status: number | null;
  readonly message: string;
}

/** Why a call that is owed has not been made, or not with success. */
export type CallWaiting =
  /** A call is being made. */
  | { readonly kind: 'on_its_way' }
  /** It is its turn: a worker takes it as soon as one is free. */
  | { readonly kind: 'turn' }
  | {
      readonly kind: 'next_try';
      readonly atMs: number;
      /** How many tries there were. */
      readonly attempts: number;
      readonly because: LastError | null;
    }
  /** The outcome is unknown: something may prove it until then; after that comes one more try, or a person. */
  | { readonly kind: 'proof'; readonly untilMs: number; readonly because: LastError | null }
  | { readonly kind: 'gate'; readonly gate: Gate }
  /** A person must decide: the service refused it, it failed for too long, or nobody knows whether it worked. */
  | {
      readonly kind: 'decision';
      readonly why: 'refused' | 'given_up' | 'unknown';
      /** The task that asks; null while it is being opened. */
      readonly taskId: string | null;
      readonly because: LastError | null;
      /** Why somebody may want to look twice. */
      readonly hint: string | null;
    };

/** Why a report is waiting. */
export type ReportWaiting = { readonly reportId: string; readonly reportKind: ReportKind } & (
  | CallWaiting
  /** The outbox is first in, first out. */
  | { readonly kind: 'behind'; readonly headId: string; readonly headKind: ReportKind }
);

/** Why a tow is waiting. */
export type Waiting =
  /** Nothing is owed, nothing can happen any more, nobody is asked. */
  | { readonly kind: 'over' }
  /** Nothing is owed: people say what happens next (`facts`, without those of the office), or look at tasks. */
  | {
      readonly kind: 'people';
      readonly facts: readonly TransitionEvent[];
      /** What must be seen to before a release, which is none of `facts` for so long. */
      readonly blockers: readonly ReleaseBlocker[];
      readonly taskIds: readonly string[];
    }
  | ({ readonly reportId: string; readonly reportKind: ReportKind } & CallWaiting);

/** What of a report tells why it waits. */
export interface WaitingReport {
  readonly id: string;
  readonly kind: ReportKind;
  readonly state: ReportState;
  readonly inFlight: boolean;
  readonly attempts: number;
  readonly nextAttemptAtMs: number | null;
  readonly waitsFor: string | null;
  readonly lastError: LastError | null;
  readonly hint: string | null;
}

export interface WaitingTask {
  readonly id: string;
  readonly type: string;
  readonly report_id?: string | undefined;
}

export interface WaitingTow {
  readonly state: TowState;
  /** In the order of the outbox. */
  readonly reports: readonly WaitingReport[];
  readonly tasks: readonly WaitingTask[];
  /** What would refuse a release (`releaseBlockers`). */
  readonly blockers?: readonly ReleaseBlocker[];
  readonly nowMs: number;
}

/** Why a tow is waiting: because of the report that is owed first, else because of people, else it is over. */
export function waitingOf(tow: WaitingTow): Waiting {
  const head = headOf(tow.reports);
  if (head) return { ...named(head), ...headWaiting(head, tow) };
  const { blockers = [] } = tow;
  const facts = TRANSITIONS[tow.state].filter((fact) => fact !== 'released' || blockers.length === 0);
  const taskIds = tow.tasks.map(({ id }) => id);
  return facts.length === 0 && taskIds.length === 0 ? { kind: 'over' } : { kind: 'people', facts, blockers, taskIds };
}

/** Why one report of a tow is waiting; null when it is settled. */
export function waitingOfReport(report: WaitingReport, tow: Omit<WaitingTow, 'state'>): ReportWaiting | null {
  if (!isOwed(report)) return null;
  const head = headOf(tow.reports);
  return head && head.id !== report.id
    ? { ...named(report), kind: 'behind', headId: head.id, headKind: head.kind }
    : { ...named(report), ...headWaiting(report, tow) };
}

/** What holds a call by the word its record keeps; null for a word that names no gate. */
export function gateOf(waitsFor: string | null): Gate | null {
  if (waitsFor === 'connection' || waitsFor === 'outage' || waitsFor === 'budget') return { kind: waitsFor };
  const operation = PAUSABLE_OPERATIONS.find((known) => waitsFor === `paused.${known}`);
  return operation === undefined ? null : { kind: 'paused', operation };
}

/** A report that is not settled. */
type Owed = WaitingReport & { readonly state: Exclude<ReportState, 'accepted' | 'waived'> };

function isOwed(report: WaitingReport): report is Owed {
  return !isSettled(report.state);
}

function headOf(reports: readonly WaitingReport[]): Owed | undefined {
  return reports.find(isOwed);
}

function named({ id, kind }: WaitingReport) {
  return { reportId: id, reportKind: kind };
}

function headWaiting(head: Owed, { tasks, nowMs }: Omit<WaitingTow, 'state'>): CallWaiting {
  // A task that only informs about an answer is no question about the report.
  const task = tasks.find(({ report_id, type }) => report_id === head.id && type !== 'answer_broken');
  const decision = (why: 'refused' | 'given_up' | 'unknown'): CallWaiting => ({
    kind: 'decision',
    why,
    taskId: task?.id ?? null,
    because: head.lastError,
    hint: head.hint,
  });
  if (head.inFlight) return { kind: 'on_its_way' };
  switch (head.state) {
    case 'sending':
      return { kind: 'on_its_way' };
    case 'refused':
      return decision('refused');
    case 'pending':
      return head.nextAttemptAtMs === null ? decision('given_up') : untilNextTry(head, head.nextAttemptAtMs, nowMs);
    case 'unknown':
      return head.nextAttemptAtMs === null ? decision('unknown') : untilProof(head, head.nextAttemptAtMs, nowMs);
  }
}

/** What of a call that failed, or was not made yet, tells when it comes up again. */
export interface NextTry {
  readonly attempts: number;
  readonly waitsFor: string | null;
  readonly lastError: LastError | null;
}

/** What waits for a gate has no time of its own: it goes on when that opens. */
export function untilNextTry(call: NextTry, atMs: number, nowMs: number): CallWaiting {
  const gate = gateOf(call.waitsFor);
  if (gate) return { kind: 'gate', gate };
  if (atMs <= nowMs) return { kind: 'turn' };
  return { kind: 'next_try', atMs, attempts: call.attempts, because: call.lastError };
}

/** Proof is waited for first, whatever else holds sending. */
export function untilProof(call: NextTry, atMs: number, nowMs: number): CallWaiting {
  return atMs > nowMs ? { kind: 'proof', untilMs: atMs, because: call.lastError } : untilNextTry(call, atMs, nowMs);
}
