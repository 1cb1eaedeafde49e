import { violationTaskId } from '../ops/tasks';
import type { Entry, EntryError, EntryState } from './entry';
import { headOf, isGivenUp, isSettled, isUnsettled, type ReportEntry, type Unsettled } from './outbox';
import type { ReleaseBlocker } from '../tow/release-checklist';
import { TRANSITIONS, type TransitionEvent } from '../tow/tow';
import {
  ENTRY_KINDS,
  GENERAL_CIRCUITS,
  type EntryKind,
  type GeneralCircuit,
  type OrUnknown,
  type ReportKind,
  type TowState,
} from '../vocabulary';

/**
 * Why something is waiting: one tagged union, for one sentence on a page. Pure: derived from the records only.
 * Timestamps are ms since the epoch.
 */

/** What blocks sending, for all reports alike. */
export type SendingBlock =
  | { readonly kind: GeneralCircuit | 'budget' }
  /** The service forbids the operation (403). */
  | { readonly kind: 'paused'; readonly operation: EntryKind };

/** A place in the waiting queue of a rate limit. */
export interface QueuePlace {
  /** From 1. */
  readonly place: number;
  /** The length of the queue. */
  readonly of: number;
  /** When its permit comes if all before it take theirs. */
  readonly leavesAtMs: number;
  /** Until when the service asked to make no such call; null when it did not. */
  readonly closedUntilMs: number | null;
}

/** Why a call has not been made, or not with success. */
export type CallWaiting =
  | { readonly kind: 'on_its_way' }
  /** Due: a worker takes it as soon as one is free. */
  | { readonly kind: 'turn' }
  | {
      readonly kind: 'next_try';
      readonly atMs: number;
      /** Attempts so far. */
      readonly attempts: number;
      readonly because: EntryError | null;
    }
  /** The outcome is unknown. Proof may come until then; after that it is sent once more or escalated. */
  | { readonly kind: 'proof'; readonly untilMs: number; readonly because: EntryError | null }
  /** `queue`: its place among those that wait for the rate limit. */
  | { readonly kind: 'blocked'; readonly by: SendingBlock; readonly queue?: QueuePlace }
  /** A person must decide: refused, failed for too long, or outcome unknown. */
  | {
      readonly kind: 'decision';
      readonly why: 'refused' | 'given_up' | 'unknown';
      /** The task that asks for the decision; null while it is being opened. */
      readonly taskId: string | null;
      readonly because: EntryError | null;
      /** Why it deserves a second look. */
      readonly hint: OrUnknown<string> | null;
    };

export type ReportWaiting = { readonly reportId: string; readonly reportKind: ReportKind } & (
  | CallWaiting
  /** An earlier report of the outbox is first. */
  | { readonly kind: 'behind'; readonly headId: string; readonly headKind: ReportKind }
);

export type Waiting =
  /** Nothing to send, no possible fact, no task. */
  | { readonly kind: 'over' }
  /** Nothing to send. People record the next fact (`facts`, without office facts) or resolve tasks. */
  | {
      readonly kind: 'people';
      readonly facts: readonly TransitionEvent[];
      /** What blocks a release; `released` is missing from `facts` meanwhile. */
      readonly blockers: readonly ReleaseBlocker[];
      readonly taskIds: readonly string[];
    }
  | ({ readonly reportId: string; readonly reportKind: ReportKind } & CallWaiting);

/** The part of an entry that explains why its call waits. */
interface WaitingCall extends Readonly<Pick<Entry, 'attempts' | 'error' | 'attemptId' | 'nextAtMs'>> {
  readonly waitsFor: OrUnknown<string> | null;
  readonly queue?: QueuePlace | null;
  readonly hint: OrUnknown<string> | null;
}

export type WaitingReport = WaitingCall & Readonly<Pick<ReportEntry, 'id' | 'kind' | 'state'>>;

interface WaitingTask {
  readonly id: string;
  readonly type: string;
  readonly report_id?: string | undefined;
}

interface WaitingTow {
  readonly state: TowState;
  /** In outbox order. */
  readonly reports: readonly WaitingReport[];
  readonly tasks: readonly WaitingTask[];
  /** The blockers of a release (`releaseBlockers`). */
  readonly blockers?: readonly ReleaseBlocker[];
  readonly nowMs: number;
}

/** Returns why a tow is waiting: for its first unsettled report, else for people, else it is over. */
export function waitingOf(tow: WaitingTow): Waiting {
  const head = headOf(tow.reports);
  if (head) return { ...reportNames(head), ...headWaiting(head, tow) };
  const { blockers = [] } = tow;
  const facts = TRANSITIONS[tow.state].filter((fact) => fact !== 'released' || blockers.length === 0);
  const taskIds = tow.tasks.map(({ id }) => id);
  return facts.length === 0 && taskIds.length === 0 ? { kind: 'over' } : { kind: 'people', facts, blockers, taskIds };
}

/** True if a release comes next but is blocked. A cancellation is possible meanwhile, but nothing waits for it. */
export function awaitsRelease({ facts, blockers }: Pick<Waiting & { kind: 'people' }, 'facts' | 'blockers'>): boolean {
  return blockers.length > 0 && facts.every((fact) => fact === 'canceled');
}

/** Returns why a report is waiting; null when it is settled. */
export function waitingOfReport(report: WaitingReport, tow: Omit<WaitingTow, 'state'>): ReportWaiting | null {
  if (!isUnsettled(report)) return null;
  const head = headOf(tow.reports);
  return head && head.id !== report.id
    ? { ...reportNames(report), kind: 'behind', headId: head.id, headKind: head.kind }
    : { ...reportNames(report), ...headWaiting(report, tow) };
}

/** What blocks sending, if the call waits for that; null when it waits for something of its own. */
function sendingBlockOf(waitsFor: WaitingCall['waitsFor']): SendingBlock | null {
  const circuit = ([...GENERAL_CIRCUITS, 'budget'] as const).find((known) => known === waitsFor);
  if (circuit !== undefined) return { kind: circuit };
  const operation = ENTRY_KINDS.find((known) => waitsFor === (`paused.${known}` as const));
  return operation === undefined ? null : { kind: 'paused', operation };
}

function reportNames({ id, kind }: WaitingReport) {
  return { reportId: id, reportKind: kind };
}

function headWaiting(head: Unsettled<WaitingReport>, { tasks, nowMs }: Omit<WaitingTow, 'state'>): CallWaiting {
  const taskId = tasks.find(({ report_id }) => report_id === head.id)?.id ?? null;
  return callWaiting(head, taskId, nowMs);
}

/** `taskId`: the task that asks for a decision on the call. */
function callWaiting(
  call: WaitingCall & { readonly state: EntryState },
  taskId: string | null,
  nowMs: number,
): CallWaiting {
  const decision = (why: 'refused' | 'given_up' | 'unknown'): CallWaiting => {
    return { kind: 'decision', why, taskId, because: call.error, hint: call.hint };
  };
  const { state, attemptId, nextAtMs: atMs } = call;
  if (state === 'sending' || attemptId !== null) return { kind: 'on_its_way' };
  if (state === 'refused') return decision('refused');
  if (atMs === null) return decision(isGivenUp(call) ? 'given_up' : 'unknown');
  // Waiting for proof comes first, even while sending is blocked.
  if (state === 'unknown' && atMs > nowMs) return { kind: 'proof', untilMs: atMs, because: call.error };
  return untilNextTry(call, atMs, nowMs);
}

/** A blocked call has no time of its own: it continues when it is unblocked. */
function untilNextTry({ waitsFor, queue, attempts, error }: WaitingCall, atMs: number, nowMs: number): CallWaiting {
  const by = sendingBlockOf(waitsFor);
  if (by?.kind === 'budget' && queue) return { kind: 'blocked', by, queue };
  if (by) return { kind: 'blocked', by };
  return atMs <= nowMs ? { kind: 'turn' } : { kind: 'next_try', atMs, attempts, because: error };
}

/** Why a violation is waiting, for one sentence on a page. */
export type ViolationWaiting =
  /** Accepted or waived. */
  | { readonly kind: 'over' }
  /** A person must decide before it is sent: about its ticket or its images. */
  | { readonly kind: 'held'; readonly taskId: string | null; readonly because: EntryError | null }
  /** The ticket check had no answer; it is repeated then. */
  | { readonly kind: 'ticket'; readonly atMs: number; readonly because: EntryError | null }
  /** The worker that claimed it does not see the disk with its images; another one may. */
  | { readonly kind: 'images'; readonly atMs: number }
  | CallWaiting;

/** The part of a violation that explains why it waits. */
export interface WaitingViolation extends WaitingCall {
  readonly id: string;
  readonly state: EntryState;
  /** Its open tasks, of any type. */
  readonly tasks: readonly { readonly id: string }[];
  readonly nowMs: number;
}

/** Returns why a violation is waiting, for every state. */
export function waitingOfViolation(violation: WaitingViolation): ViolationWaiting {
  const { state, nextAtMs: atMs, nowMs, error: because, waitsFor, attemptId } = violation;
  const taskId = violation.tasks.find(({ id }) => id === violationTaskId(violation.id))?.id ?? null;
  if (isSettled(state)) return { kind: 'over' };
  if (state === 'held') return { kind: 'held', taskId, because };
  if (state === 'pending' && attemptId === null && atMs !== null && atMs > nowMs) {
    if (waitsFor === 'ticket_check') return { kind: 'ticket', atMs, because };
    if (waitsFor === 'spool') return { kind: 'images', atMs };
  }
  return callWaiting(violation, taskId, nowMs);
}
