import { decideEntry, type EntryDecision } from './decide-entry';
import { isEntrySettled, type Entry } from './entry';
import type { StoredViolation } from './outbox-record';
import type { Violation } from './violation';
import { addReference, dropReference, mayHaveBeenSent, noteTow } from './violation-names';

/** A tow, and the service's name of the violation it comes from. */
export interface JoiningTow {
  readonly towingReference: string;
  readonly reference: string;
}

/** The one entry of a violation. */
export function entryOf({ entries, id }: StoredViolation): Entry {
  const [entry] = entries;
  if (!entry) throw new Error(`the violation ${id} has no entry`);
  return entry;
}

/**
 * Notes that a requested tow comes from a violation, and under which name the service knows it. Of a violation that may
 * have been sent without an answer this proves that the service has it: it is accepted and its task is closed; where the
 * form was corrected since it was sent, an informing task is opened. Idempotent.
 */
export function joinTow(record: StoredViolation, { towingReference, reference }: JoiningTow, nowMs: number): void {
  const entry = entryOf(record);
  // A name that is not known yet was found by the id that the service echoes.
  const isNewReference = !record.references.includes(reference);
  const mayBeThere = mayHaveBeenSent(entry);
  // A name from before it was first sent proves nothing of what was sent since.
  const isProof = mayBeThere && (isNewReference || record.toldReferences.includes(reference));
  const proves = isProof && !isEntrySettled(entry);
  addReference(record, reference, { isTold: isNewReference && mayBeThere, isMain: proves });
  noteTow(record, entry, { towingReference, isNewReference, proves }, nowMs);
}

/**
 * The same because a person decided it. `other` has the service's name so far, null when none has: it loses the name,
 * unless the service itself told it of that one. Returns whether the name is now that of `record`.
 */
export function linkTow(
  record: StoredViolation,
  { towingReference, reference }: JoiningTow,
  other: StoredViolation | null,
  nowMs: number,
): boolean {
  const entry = entryOf(record);
  const getsName = other === null || dropReference(other, reference);
  const isNew = getsName && !record.references.includes(reference);
  const proves = other === null && isNew && mayHaveBeenSent(entry) && !isEntrySettled(entry);
  const isNewReference = getsName && addReference(record, reference, { isMain: proves });
  noteTow(record, entry, { towingReference, isNewReference, proves }, nowMs);
  return getsName;
}

/** What a person decided about a violation. */
export type ViolationDecision =
  Exclude<EntryDecision, { action: 'correct' }> | { readonly action: 'correct'; readonly violation: Violation };

/** Carries out a decision that the rules allow. */
export function decideOn(record: StoredViolation, decision: ViolationDecision, nowMs: number): void {
  if (decision.action === 'correct') {
    record.violation = decision.violation;
    // Another plate or zone is another question.
    record.ticket = null;
    record.ticketOverruled = false;
  }
  decideEntry(record, entryOf(record), decision, nowMs);
}
