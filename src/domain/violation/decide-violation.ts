import { auditOf, damagedAmong, type Actor, type AuditAction, type AuditDetails, type AuditEntry } from '../ops/audit';
import { decideEntry, type EntryDecision } from '../outbox/decide-entry';
import { refusedForViolation, type DecisionAction } from '../outbox/decisions';
import { formatWarnings, keptWarnings, visibleForm } from '../format-warnings';
import { editEntry, type StoredViolation } from '../outbox/outbox-record';
import { conflict, invalid, type Decision } from '../refusal';
import { asShown } from '../outbox/held-record';
import { entryOf } from './stored-violation';
import { damagedNumbers, type Violation, type ViolationForm, type ViolationImage } from './violation';
import { addReference } from './violation-references';

/** New values by wire name; null clears an optional field, omitted fields stay. */
type FormCorrection = {
  readonly [K in keyof Omit<ViolationForm, 'metadata'>]?:
    | ViolationForm[K]
    | (undefined extends ViolationForm[K] ? null : never)
    | undefined;
};

/** A decision about a violation, with its input. */
export type ViolationCommand =
  | { readonly action: 'retry' }
  /** `images` replace all images of the violation. */
  | { readonly action: 'correct'; readonly fields: FormCorrection; readonly images?: readonly ViolationImage[] }
  | { readonly action: 'waive'; readonly reason: string }
  /** `reference` is its reference at the service, if the person knows it. */
  | { readonly action: 'accept'; readonly reason: string; readonly reference: string | null };

export interface ViolationContext {
  readonly actor: Actor;
  /** Clock of this process, ms; the warnings about the form depend on it. */
  readonly clockMs: number;
  /** Redis time, ms. */
  readonly nowMs: number;
  /** Another violation has the given reference already. */
  readonly isTaken: boolean;
}

/**
 * Carries out a decision about a violation: changes the draft and returns the audit entry, or refuses and leaves the draft
 * unchanged. Refusals: `violation_settled`, `violation_in_flight`, `held_in_shadow`, `correct_not_allowed`,
 * `reference_taken`, `field_invalid`.
 */
export function decideViolation(
  draft: StoredViolation,
  command: ViolationCommand,
  { actor, clockMs, nowMs, isTaken }: ViolationContext,
): Decision<{ audit: AuditEntry }> {
  const refused = refusedForViolation(command.action, asShown(entryOf(draft), draft.shadow));
  if (refused) return refused;
  const decided = (why: string | null, what: AuditDetails = {}) => {
    const on = { violation_id: draft.id };
    return { ok: true, audit: auditOf(actor, AUDIT_ACTIONS_OF[command.action], { on, why, what }) } as const;
  };
  const decide = (decision: EntryDecision) => decideEntry(draft, editEntry(draft, entryOf(draft)), decision, nowMs);
  switch (command.action) {
    case 'retry':
      decide(command);
      return decided(null);
    case 'waive':
      decide(command);
      return decided(command.reason);
    case 'accept':
      if (isTaken) return referenceTaken;
      decide(command);
      if (command.reference !== null) addReference(draft, command.reference, { isMain: true });
      return decided(command.reason);
    case 'correct': {
      const before = draft.violation;
      const corrected = correctedViolation(before, command, { actor, clockMs });
      if (!corrected.ok) return corrected;
      draft.violation = corrected.violation;
      // Another plate or zone needs another ticket check.
      draft.ticket = null;
      draft.ticketOverruled = false;
      decide({ action: 'correct' });
      return decided(null, { fields: corrected.fields, ...replacedBy(before, command) });
    }
  }
}

type CorrectionCommand = Extract<ViolationCommand, { readonly action: 'correct' }>;

/** The hashes of the images that a correction replaces, and of damaged ones that it brings. */
function replacedBy({ images }: Violation, command: CorrectionCommand): AuditDetails {
  return command.images ? { replaced_images: images.map(({ sha256 }) => sha256), ...damagedAmong(command.images) } : {};
}

/** The violation with new values in its form, or other images, and their names. */
function correctedViolation(
  violation: Violation,
  { fields, images }: CorrectionCommand,
  { actor, clockMs }: Pick<ViolationContext, 'actor' | 'clockMs'>,
): Decision<{ violation: Violation; fields: readonly string[] }> {
  if (images?.length === 0) return invalid([{ field: 'images', rule: 'is required (at least one image)' }]);
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  const names = [...given.map(([name]) => name), ...(images ? ['images'] : [])];
  if (names.length === 0) return invalid([{ field: 'body', rule: 'needs at least one field of the form' }]);
  const values = Object.fromEntries(given.map(([name, value]) => [name, value ?? undefined]));
  const entered: ViolationForm = { ...violation.form, ...values };
  const shown = images ?? violation.images;
  const found = formatWarnings(entered, {
    api: violation.api,
    images: shown.length,
    damaged: damagedNumbers(shown),
    nowMs: clockMs,
  });
  const warnings = [...keptWarnings(violation.warnings, names), ...found];
  const corrected = { ...violation, form: visibleForm(entered), warnings };
  if (!images) return { ok: true, violation: corrected, fields: names };
  const at = { replacedAt: new Date(clockMs).toISOString(), replacedBy: actor.name };
  const replaced = violation.images.map((image) => ({ ...image, ...at }));
  const replacedImages = [...(violation.replacedImages ?? []), ...replaced];
  return { ok: true, violation: { ...corrected, images, replacedImages }, fields: names };
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
} as const satisfies Record<DecisionAction, AuditAction>;
