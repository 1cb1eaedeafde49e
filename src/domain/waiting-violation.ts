import { untilNextTry, untilProof, type CallWaiting, type LastError } from './waiting';
import { violationTaskId } from './violation-tasks';
import type { ViolationState } from './vocabulary';

/** Why a violation is waiting, or that it is not: for one sentence on a page. Moments are ms since the epoch. */
export type ViolationWaiting =
  /** The service has it, or a person gave it up. */
  | { readonly kind: 'over' }
  /** A person must decide before it is sent at all: its ticket, or its images. */
  | { readonly kind: 'held'; readonly taskId: string | null; readonly because: LastError | null }
  /** Nobody could say yet whether the vehicle has an active ticket; asked again then. */
  | { readonly kind: 'ticket'; readonly atMs: number; readonly because: LastError | null }
  /** The worker that took it does not see the disk with its images; another one may. */
  | { readonly kind: 'images'; readonly atMs: number }
  | CallWaiting;

/** What of a violation tells why it waits. */
export interface WaitingViolation {
  readonly id: string;
  readonly state: ViolationState;
  readonly inFlight: boolean;
  readonly attempts: number;
  readonly nextAttemptAtMs: number | null;
  readonly waitsFor: string | null;
  readonly lastError: LastError | null;
  readonly hint: string | null;
  /** Open tasks about it, any others among them. */
  readonly tasks: readonly { readonly id: string }[];
  readonly nowMs: number;
}

/** Why a violation is waiting. Total: every state, whatever else its record says. */
export function waitingOfViolation(violation: WaitingViolation): ViolationWaiting {
  const { nextAttemptAtMs: atMs, nowMs, lastError: because, hint } = violation;
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
      if (violation.inFlight) return { kind: 'on_its_way' };
      if (atMs === null) return decision(violation.state === 'pending' ? 'given_up' : 'unknown');
      return violation.state === 'pending' ? untilSent(violation, atMs) : untilProof(violation, atMs, nowMs);
  }
}

function untilSent(violation: WaitingViolation, atMs: number): ViolationWaiting {
  const { waitsFor, lastError: because, nowMs } = violation;
  if (atMs > nowMs && waitsFor === 'ticket_check') return { kind: 'ticket', atMs, because };
  if (atMs > nowMs && waitsFor === 'spool') return { kind: 'images', atMs };
  return untilNextTry(violation, atMs, nowMs);
}
