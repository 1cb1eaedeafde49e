import { auditOf, type Actor, type AuditAction, type AuditDetails, type AuditEntry } from './audit';
import { formatWarnings } from './format-warnings';
import type { StoredViolation } from './outbox-record';
import { conflict, invalid, type Decision } from './refusal';
import { decideOn, entryOf } from './stored-violation';
import type { Violation, ViolationForm } from './violation';
import { addReference } from './violation-names';

/** New values by their names on the wire; what is left out stays. */
type FormCorrection = {
  readonly [K in keyof Omit<ViolationForm, 'metadata'>]?: ViolationForm[K] | undefined;
};

/** What a person may decide about a violation that is not settled; one whose answer is questioned may be sent again, too. */
export type ViolationCommand =
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly fields: FormCorrection }
  | { readonly action: 'waive'; readonly reason: string }
  /** `reference` is the service's name of it, when the person knows it. */
  | { readonly action: 'accept'; readonly reason: string; readonly reference: string | null };

export interface ViolationContext {
  readonly actor: Actor;
  /** The time of day, by which the form is looked at, ms. */
  readonly clockMs: number;
  /** Redis time, ms. */
  readonly nowMs: number;
  /** The violation that has the name under which it is to be accepted; null when none has. */
  readonly owner: StoredViolation | null;
}

/**
 * Carries out the decision of a person on a violation: changes the draft and returns the audit entry, or refuses and leaves
 * the draft as it is. Refusals: `violation_settled`, `violation_in_flight`, `correct_not_allowed`, `reference_taken`,
 * `field_invalid`.
 */
export function decideViolation(
  draft: StoredViolation,
  command: ViolationCommand,
  { actor, clockMs, nowMs, owner }: ViolationContext,
): Decision<{ audit: AuditEntry }> {
  const refusal = refusalOf(draft, command);
  if (refusal) return refusal;
  const decided = (why: string | null, what: AuditDetails = {}) => {
    const on = { violation_id: draft.id };
    return { ok: true, audit: auditOf(actor, AUDIT_ACTIONS_OF[command.action], { on, why, what }) } as const;
  };
  switch (command.action) {
    case 'retry':
      decideOn(draft, command, nowMs);
      return decided(null);
    case 'waive':
      decideOn(draft, command, nowMs);
      return decided(command.reason);
    case 'accept':
      if (owner && owner.id !== draft.id) return referenceTaken;
      decideOn(draft, command, nowMs);
      if (command.reference !== null) addReference(draft, command.reference, { isMain: true });
      return decided(command.reason);
    case 'correct': {
      const corrected = correctedViolation(draft.violation, command.fields, clockMs);
      if (!corrected.ok) return corrected;
      decideOn(draft, { action: 'correct', violation: corrected.violation }, nowMs);
      return decided(null, { fields: corrected.fields });
    }
  }
}

/** Why the decision may not be made; null when it may. */
function refusalOf(draft: StoredViolation, { action }: ViolationCommand) {
  const { state, attemptId, nextAtMs, possibleEffects } = entryOf(draft);
  const isSentAgain = action === 'retry' && draft.isAnswerQuestioned;
  if ((state === 'accepted' && !isSentAgain) || state === 'waived') {
    return conflict('violation_settled', `The violation was already ${state}.`);
  }
  if (attemptId !== null || state === 'sending') {
    return conflict('violation_in_flight', 'The violation is being sent right now; decide when its answer is here.');
  }
  // What was sent before and may have worked must not be changed unknown to the service. Once the service has refused it,
  // or nothing more is sent, a correction is all that is left, and a proof of what was sent before it becomes a task.
  const isGivenUp = state === 'pending' && nextAtMs === null;
  const mayBeThere = state === 'unknown' || possibleEffects > 0;
  return action === 'correct' && mayBeThere && state !== 'refused' && !isGivenUp
    ? conflict('correct_not_allowed', 'An earlier try may have worked: accept, retry or waive it.')
    : null;
}

/** The violation with new values in its form, and the names of those. */
function correctedViolation(
  violation: Violation,
  fields: FormCorrection,
  clockMs: number,
): Decision<{ violation: Violation; fields: readonly string[] }> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  if (names.length === 0) return invalid([{ field: 'body', rule: 'needs at least one field of the form' }]);
  const form: ViolationForm = { ...violation.form, ...Object.fromEntries(given) };
  const warnings = formatWarnings(form, { api: violation.api, images: violation.images.length, nowMs: clockMs });
  return { ok: true, violation: { ...violation, form, warnings }, fields: names };
}

const referenceTaken = conflict(
  'reference_taken',
  'Another violation has this violation_reference_id; look at that one first.',
);

const AUDIT_ACTIONS_OF = {
  retry: 'violation.retried',
  correct: 'violation.corrected',
  waive: 'violation.waived',
  accept: 'violation.accepted_by_hand',
} as const satisfies Record<ViolationCommand['action'], AuditAction>;
