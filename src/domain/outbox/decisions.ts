import type { Entry } from './entry';
import { isCorrectable } from '../tow/facts';
import { isGivenUp, isSettled } from './outbox';
import { conflict } from '../refusal';
import type { ReportKind, Role } from '../vocabulary';

/**
 * The decisions of a person about a report, a violation or a task: which there are, who may make them, and when. Forms
 * and API apply the same rules: `allowedReportDecisions` and `allowedViolationDecisions` try the rule for each decision.
 */

/** Decisions that need no fields of the report or violation, so that many can be decided at once. */
export const UNIFORM_DECISIONS = ['retry', 'waive', 'accept'] as const;

/**
 * The decisions about a report or a violation, the likeliest first.
 *
 * - correct: change the body and send it.
 * - retry: send it again now.
 * - waive: give it up. Needs a reason.
 * - accept: treat it as accepted, because a person has seen it at the service. Needs a reason.
 */
export const DECISIONS = ['correct', ...UNIFORM_DECISIONS] as const;
export type DecisionAction = (typeof DECISIONS)[number];

/**
 * What a task may offer: a decision, to close the task (`resolve`), to resume a paused operation (`resume`), or to
 * declare a kind of difference expected (`expect`).
 */
export const TASK_ACTIONS = [...DECISIONS, 'resolve', 'resume', 'expect'] as const;
export type TaskAction = (typeof TASK_ACTIONS)[number];

/** The weakest role that may carry out each action. */
export const ACTION_ROLES = {
  correct: 'dispatcher',
  retry: 'dispatcher',
  waive: 'dispatcher',
  accept: 'dispatcher',
  resolve: 'dispatcher',
  resume: 'ops',
  expect: 'ops',
} as const satisfies Record<TaskAction, Role>;

/** True for actions that are refused without a reason. */
export function needsReason(action: TaskAction): boolean {
  return action === 'waive' || action === 'accept';
}

/** An entry as far as decisions depend on it; see asShown. */
type Decidable = Readonly<Pick<Entry, 'state' | 'attemptId' | 'waitsFor'>>;
type DecidableViolation = Decidable & Readonly<Pick<Entry, 'nextAtMs' | 'possibleEffects'>>;

type DecisionRefused = ReturnType<typeof conflict>;

/** A retry would change nothing. */
const heldInShadow = conflict(
  'held_in_shadow',
  'Shadow mode holds it: nothing is sent in that mode, and what it held is then sent or declined as a whole.',
);

/** The decisions about a report that would not be refused now. */
export function allowedReportDecisions(report: Decidable & { readonly kind: ReportKind }): DecisionAction[] {
  return DECISIONS.filter(
    (action) => (action !== 'correct' || isCorrectable(report.kind)) && refusedForReport(action, report) === null,
  );
}

/** The decisions about a violation that would not be refused now. */
export function allowedViolationDecisions(violation: DecidableViolation): DecisionAction[] {
  return DECISIONS.filter((action) => refusedForViolation(action, violation) === null);
}

/**
 * The rule that forbids a decision about a report; null if it is allowed. Refusals: `report_settled`, `report_in_flight`,
 * `held_in_shadow`, `correct_not_allowed`.
 */
export function refusedForReport(
  action: DecisionAction,
  { state, attemptId, waitsFor }: Decidable,
): DecisionRefused | null {
  if (isSettled(state)) return conflict('report_settled', `The report was already ${state}.`);
  if (attemptId !== null || state === 'sending') {
    return conflict('report_in_flight', 'The report is being sent right now; decide when its answer is here.');
  }
  if (action === 'retry' && waitsFor === 'shadow') return heldInShadow;
  return action === 'correct' && state === 'unknown'
    ? conflict('correct_not_allowed', 'The outcome is unknown: accept, retry or waive it.')
    : null;
}

/**
 * The rule that forbids a decision about a violation; null if it is allowed. Refusals: `violation_settled`,
 * `violation_in_flight`, `held_in_shadow`, `correct_not_allowed`.
 */
export function refusedForViolation(action: DecisionAction, violation: DecidableViolation): DecisionRefused | null {
  const { state, attemptId, possibleEffects } = violation;
  if (isSettled(state)) return conflict('violation_settled', `The violation was already ${state}.`);
  if (attemptId !== null || state === 'sending') {
    return conflict('violation_in_flight', 'The violation is being sent right now; decide when its answer is here.');
  }
  if (action === 'retry' && violation.waitsFor === 'shadow') return heldInShadow;
  // The service may have an earlier version that was sent without an answer. A correction would then differ from it
  // unnoticed. After a refusal or once given up, only a correction helps; a later proof of the old version opens a task.
  const mayBeThere = state === 'unknown' || possibleEffects > 0;
  return action === 'correct' && mayBeThere && state !== 'refused' && !isGivenUp(violation)
    ? conflict('correct_not_allowed', 'An earlier try may have worked: accept, retry or waive it.')
    : null;
}
