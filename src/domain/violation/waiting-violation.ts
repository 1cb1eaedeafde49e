import { untilNextTry, untilProof, type CallWaiting, type WaitingReport } from '../outbox/waiting';
import type { EntryError, EntryState } from '../outbox/entry';
import { isGivenUp } from '../outbox/outbox';
import { violationTaskId } from './violation-tasks';

/** Why a violation is waiting, for one sentence on a page. Timestamps are ms since the epoch. */
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
export interface WaitingViolation extends Omit<WaitingReport, 'kind' | 'state'> {
  readonly state: EntryState;
  /** Its open tasks, of any type. */
  readonly tasks: readonly { readonly id: string }[];
  readonly nowMs: number;
}

/** Returns why a violation is waiting, for every state. */
export function waitingOfViolation(violation: WaitingViolation): ViolationWaiting {
  const { nextAtMs: atMs, nowMs, error: because, hint } = violation;
  const taskId = violation.tasks.find(({ id }) => id === violationTaskId(violation.id))?.id ?? null;
  const decision = (why: 'refused' | 'given_up' | 'unknown') =>
    ({ kind: 'decision', why, taskId, because, hint }) as const;
  switch (violation.state) {
    case 'accepted':
    case 'waived':
      return { kind: 'over' };
    case 'sending':
      return { kind: 'on_its_way' };
    case 'held':
      return { kind: 'held', taskId, because };
    case 'refused':
      return decision('refused');
    case 'pending':
    case 'unknown':
      if (violation.attemptId !== null) return { kind: 'on_its_way' };
      if (atMs === null) return decision(isGivenUp(violation) ? 'given_up' : 'unknown');
      return violation.state === 'pending' ? untilSent(violation, atMs) : untilProof(violation, atMs, nowMs);
  }
}

function untilSent(violation: WaitingViolation, atMs: number): ViolationWaiting {
  const { waitsFor, error: because, nowMs } = violation;
  if (atMs > nowMs && waitsFor === 'ticket_check') return { kind: 'ticket', atMs, because };
  if (atMs > nowMs && waitsFor === 'spool') return { kind: 'images', atMs };
  return untilNextTry(violation, atMs, nowMs);
}
