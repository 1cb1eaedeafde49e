import type { Entry } from './entry';
import { isCorrectable } from '../tow/facts';
import { isGivenUp, isSettled } from './outbox';
import { conflict } from '../refusal';
import { STOPPED } from '../vocabulary';
import type { Role } from '../vocabulary';

/**
 * The decisions of a person about a report, a violation or a task: which there are, who may make them, and when. Forms
 * and API apply the same rules: `allowedDecisions` tries the rule for each decision.
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
type Decidable = Readonly<Pick<Entry, 'kind' | 'state' | 'attemptId' | 'waitsFor' | 'nextAtMs' | 'possibleEffects'>>;

/** The decisions about an entry that would not be refused now. */
export function allowedDecisions(entry: Decidable): DecisionAction[] {
  const hasFields = entry.kind === 'violation' || isCorrectable(entry.kind);
  return DECISIONS.filter((action) => (action !== 'correct' || hasFields) && refusedDecision(action, entry) === null);
}

/**
 * The rule that forbids a decision about an entry; null if it is allowed. Refusals: `report_settled`, `report_in_flight`,
 * for a violation `violation_settled`, `violation_in_flight`; `held_in_shadow`, `correct_not_allowed`.
 */
export function refusedDecision(action: DecisionAction, entry: Decidable): ReturnType<typeof conflict> | null {
  const { kind, state, attemptId } = entry;
  const what = kind === 'violation' ? 'violation' : 'report';
  if (isSettled(state)) return conflict(`${what}_settled`, `The ${what} was already ${state}.`);
  if (attemptId !== null || state === 'sending') {
    return conflict(`${what}_in_flight`, `The ${what} is being sent right now; decide when its answer is here.`);
  }
  // A retry would change nothing.
  if (action === 'retry' && entry.waitsFor === STOPPED) {
    const rule = 'nothing is sent in that mode, and what it held is then sent or declined as a whole';
    return conflict('held_in_shadow', `Shadow mode holds it: ${rule}.`);
  }
  if (action !== 'correct') return null;
  if (kind !== 'violation') {
    return state === 'unknown'
      ? conflict('correct_not_allowed', 'The outcome is unknown: accept, retry or waive it.')
      : null;
  }
  // The service may have an earlier version that was sent without an answer. A correction would then differ from it
  // unnoticed. After a refusal or once given up, only a correction helps; a later proof of the old version opens a task.
  const mayBeThere = state === 'unknown' || entry.possibleEffects > 0;
  return mayBeThere && state !== 'refused' && !isGivenUp(entry)
    ? conflict('correct_not_allowed', 'An earlier try may have worked: accept, retry or waive it.')
    : null;
}
