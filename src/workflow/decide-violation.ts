import type { ViolationRecord } from '../contracts/violations';
import { auditOf, type Actor, type AuditAction } from '../domain/audit';
import { formatWarnings } from '../domain/format-warnings';
import { conflict, invalid, unknown, type Decision } from '../domain/refusal';
import { violationSearchTerms } from '../domain/search';
import type { Violation, ViolationForm } from '../domain/violation';
import type { Clock } from '../platform/clock';
import type { Remember, Wake } from './ports';
import { effectOf, type Effect } from './effect';
import { untilFresh } from './retry-stale';
import type { ViolationDecision, ViolationStore } from './violation-port';

/** New values by their names on the wire; what is left out stays. */
type FormCorrection = {
  readonly [K in keyof Omit<ViolationForm, 'metadata'>]?: ViolationForm[K] | undefined;
};

/** What a person may decide about a violation that is not settled; one whose answer is questioned may be sent again, too. */
export type ViolationCommand =
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly fields: FormCorrection }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string; readonly reference: string | null };

export interface DecideTools {
  readonly violations: ViolationStore;
  readonly wake: Wake;
  readonly clock: Clock;
}

export interface ViolationRequest {
  readonly id: string;
  readonly command: ViolationCommand;
  readonly actor: Actor;
  readonly remember?: Remember | undefined;
}

export const noSuchViolation = unknown('violation_not_found', 'There is no such violation.').refusal;

const referenceTaken = conflict(
  'reference_taken',
  'Another violation has this violation_reference_id; look at that one first.',
).refusal;

/** Carries out a person's decision on one violation, or refuses and changes nothing. */
export async function decideViolation(tools: DecideTools, request: ViolationRequest): Promise<Effect> {
  let id = request.id;
  const effect = await untilFresh<Effect>(async () => {
    const record = await tools.violations.read(request.id);
    if (!record) return { kind: 'refused', refusal: noSuchViolation };
    id = record.violation.id;
    const decided = decisionOn(record, request, tools.clock.nowMs());
    if (!decided.ok) return { kind: 'refused', refusal: decided.refusal };
    const saved = await tools.violations.decide(record, decided.decision, request.remember);
    if (saved.kind === 'reference_taken') return { kind: 'refused', refusal: referenceTaken };
    return effectOf(saved) ?? { kind: 'refused', refusal: noSuchViolation };
  });
  if (effect.kind === 'done') tools.wake.violation(id);
  return effect;
}

function decisionOn(
  record: ViolationRecord,
  { command, actor }: ViolationRequest,
  nowMs: number,
): Decision<{ decision: ViolationDecision }> {
  const isSentAgain = command.action === 'retry' && record.isAnswerQuestioned;
  if ((record.state === 'accepted' && !isSentAgain) || record.state === 'waived') {
    return conflict('violation_settled', `The violation was already ${record.state}.`);
  }
  if (record.inFlight || record.state === 'sending') {
    return conflict('violation_in_flight', 'The violation is being sent right now; decide when its answer is here.');
  }
  const on = { violation_id: record.violation.id };
  const audit = (what: { why?: string; fields?: readonly string[] } = {}) =>
    auditOf(actor, AUDIT_ACTIONS_OF[command.action], {
      on,
      why: what.why,
      ...(what.fields ? { what: { fields: what.fields } } : {}),
    });
  switch (command.action) {
    case 'retry':
      return { ok: true, decision: { action: 'retry', audit: audit() } };
    case 'waive':
      return {
        ok: true,
        decision: { action: 'waive', reason: command.reason, audit: audit({ why: command.reason }) },
      };
    case 'accept': {
      const { reason, reference } = command;
      return { ok: true, decision: { action: 'accept', reason, reference, audit: audit({ why: reason }) } };
    }
    case 'correct': {
      const corrected = correctedViolation(record, command.fields, nowMs);
      if (!corrected.ok) return corrected;
      const { violation, fields } = corrected;
      const terms = violationSearchTerms(violation, record.reference);
      return {
        ok: true,
        decision: { action: 'correct', violation, searchTerms: terms, audit: audit({ fields }) },
      };
    }
  }
}

const AUDIT_ACTIONS_OF = {
  retry: 'violation.retried',
  correct: 'violation.corrected',
  waive: 'violation.waived',
  accept: 'violation.accepted_by_hand',
} as const satisfies Record<ViolationCommand['action'], AuditAction>;

/**
 * The form with new values; what was sent before and may have worked is not to be changed behind the service's back. Once
 * the service has refused it, or nothing more is sent, a correction is all that is left, and a proof of what was sent
 * before it becomes a task.
 */
function correctedViolation(
  record: ViolationRecord,
  fields: FormCorrection,
  nowMs: number,
): Decision<{ violation: Violation; fields: readonly string[] }> {
  const { violation, state } = record;
  const isGivenUp = state === 'pending' && record.nextAttemptAtMs === null;
  const mayBeThere = state === 'unknown' || record.mayHaveHadEffect;
  if (mayBeThere && state !== 'refused' && !isGivenUp) {
    return conflict('correct_not_allowed', 'An earlier try may have worked: accept, retry or waive it.');
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const names = given.map(([name]) => name);
  if (names.length === 0) return invalid([{ field: 'body', rule: 'needs at least one field of the form' }]);
  const form: ViolationForm = { ...violation.form, ...Object.fromEntries(given) };
  const warnings = formatWarnings(form, { api: violation.api, images: violation.images.length, nowMs });
  return { ok: true, violation: { ...violation, form, warnings }, fields: names };
}
