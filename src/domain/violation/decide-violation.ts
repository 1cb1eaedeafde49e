import { damagedAmong, type AuditDetails, type AuditEntry } from '../ops/audit';
import { decideOn, type DecisionContext, type EntryDecision } from '../outbox/decide-entry';
import { formatWarnings, keptWarnings, visibleForm } from '../format-warnings';
import type { StoredViolation } from '../outbox/outbox-record';
import { conflict, invalid, type Decision } from '../refusal';
import { entryOf, addReference } from './stored-violation';
import { damagedNumbers, type Violation, type ViolationForm, type ViolationImage } from './violation';

/** New values by wire name; null clears an optional field, omitted fields stay. */
type FormCorrection = {
  readonly [K in keyof Omit<ViolationForm, 'metadata'>]?:
    | ViolationForm[K]
    | (undefined extends ViolationForm[K] ? null : never)
    | undefined;
};

interface FormDecision {
  readonly fields: FormCorrection;
  /** They replace all images of the violation. */
  readonly images?: readonly ViolationImage[];
}

/** `reference` is its reference at the service, if the person knows it. */
export type ViolationCommand = EntryDecision<FormDecision, { readonly reference: string | null }>;

/** The warnings about the form depend on the clock. */
interface ViolationContext extends DecisionContext {
  /** Another violation has the given reference already. */
  readonly isTaken: boolean;
}

/**
 * Carries out a decision about a violation: changes the draft and returns the audit entry, or refuses and leaves the draft
 * unchanged. Refusals: `reference_taken`, `field_invalid`, and those of `refusedDecision`.
 */
export function decideViolation(
  draft: StoredViolation,
  decision: ViolationCommand,
  context: ViolationContext,
): Decision<{ audit: AuditEntry }> {
  const decided = decideOn(draft, entryOf(draft), decision, context, () => {
    if (decision.action === 'accept' && context.isTaken) return referenceTaken;
    if (decision.action !== 'correct') return { ok: true, what: {} };
    const before = draft.violation;
    const corrected = correctedViolation(before, decision, context);
    if (!corrected.ok) return corrected;
    draft.violation = corrected.violation;
    // Another plate or zone needs another ticket check.
    draft.ticket = null;
    draft.ticketOverruled = false;
    return { ok: true, what: { fields: corrected.fields, ...replacedBy(before, decision) } };
  });
  if (decided.ok && decision.action === 'accept' && decision.reference !== null) {
    addReference(draft, decision.reference, { isMain: true });
  }
  return decided;
}

/** The hashes of the images that a correction replaces, and of damaged ones that it brings. */
function replacedBy({ images }: Violation, decision: FormDecision): AuditDetails {
  return decision.images
    ? { replaced_images: images.map(({ sha256 }) => sha256), ...damagedAmong(decision.images) }
    : {};
}

/** The violation with new values in its form, or other images, and their names. */
function correctedViolation(
  violation: Violation,
  { fields, images }: FormDecision,
  { actor, clockMs }: ViolationContext,
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
