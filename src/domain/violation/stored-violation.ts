import { beforeCorrectionTask } from '../ops/tasks';
import { change } from '../change';
import type { Entry } from '../outbox/entry';
import { escalate } from '../outbox/escalate-entry';
import { isSettled } from '../outbox/outbox';
import { closeTask, editEntry, openTask, type StoredViolation } from '../outbox/outbox-record';
import { acceptEntry, reopenEntry, requestCleanup } from '../outbox/settle-entry';
import { isObject, withQuotedNumbers, jsonIn } from '../json';
import { isEchoOfAnother, type Violation } from './violation';
import { brokenReferenceRule, type ViolationApi } from '../vocabulary';

/** A tow, and the reference of its violation. */
export interface MatchedTow {
  readonly towingReference: string;
  readonly reference: string;
}

interface RequestedTow extends MatchedTow {
  /** The tow request echoes the metadata id of the violation. */
  readonly isEchoed: boolean;
}

/** A draft of a violation; `damaged`: it cannot be decoded, so nothing about it can be decided or written. */
export type FoundViolation = StoredViolation | 'damaged' | null;

/** True if what was found is another violation than the one with this id. A damaged one is: its id is not looked up. */
export function isOfAnother(owner: FoundViolation, violationId: string): boolean {
  return owner !== null && (owner === 'damaged' || owner.id !== violationId);
}

/** The only entry of a violation. @throws Error without one */
export function entryOf({ entries, id }: StoredViolation): Entry {
  const [entry] = entries;
  if (!entry) throw new Error(`the violation ${id} has no entry`);
  return entry;
}

/**
 * Records that a requested tow comes from a violation, and the reference that the service uses for it. If the
 * violation may have been sent without an answer, this proves that the service has it: it is accepted and its task is
 * closed. If the form was corrected since it was sent, an informing task is opened. Idempotent.
 */
export function matchTow(record: StoredViolation, requested: RequestedTow, nowMs: number): void {
  const { towingReference, reference, isEchoed } = requested;
  const entry = editEntry(record, entryOf(record));
  const isNewReference = !record.references.includes(reference);
  // A reference from before the first send proves nothing about that send.
  const isAssigned = isEchoed && mayHaveBeenSent(entry);
  const isProof = isAssigned || (mayHaveBeenSent(entry) && record.assignedReferences.includes(reference));
  const proves = isProof && !isSettled(entry.state);
  addReference(record, reference, { isAssigned, isMain: proves });
  recordTow(record, entry, { towingReference, isNewReference, proves }, nowMs);
}

/**
 * Links a tow to a violation by a decision of a person. `other` is the violation with this reference, or null: it
 * loses the reference if `dropReference` allows that. Returns whether the reference now belongs to `record`. If an
 * earlier call may have had an effect, the link proves it. A first call in flight is not proved: it may end without
 * effect.
 */
export function linkTow(
  record: StoredViolation,
  { towingReference, reference }: MatchedTow,
  other: FoundViolation,
  nowMs: number,
): boolean {
  const entry = editEntry(record, entryOf(record));
  const getsName = dropReference(other, reference, nowMs);
  const isNew = getsName && !record.references.includes(reference);
  const proves = other === null && isNew && mayBeAtService(entry) && !isSettled(entry.state);
  const isNewReference = getsName && addReference(record, reference, { isMain: proves });
  recordTow(record, entry, { towingReference, isNewReference, proves }, nowMs);
  return getsName;
}

/** True when the violation may have been sent: otherwise no reference can prove it. */
function mayHaveBeenSent(entry: Entry): boolean {
  return mayBeAtService(entry) || entry.attemptId !== null || entry.state === 'accepted';
}

/** True when a call that ended without acceptance may have created the violation. */
function mayBeAtService({ possibleEffects, state }: Entry): boolean {
  return possibleEffects > 0 || state === 'unknown';
}

/** Records that a tow comes from a violation. `proves`: the service has the violation. */
function recordTow(
  record: StoredViolation,
  entry: Entry,
  found: { readonly towingReference: string; readonly isNewReference: boolean; readonly proves: boolean },
  nowMs: number,
): void {
  if (!record.tows.includes(found.towingReference)) record.tows.push(found.towingReference);
  if (found.proves) {
    if (entry.sentRevision !== null && entry.sentRevision !== entry.revision) {
      openTask(record, beforeCorrectionTask(record.id), nowMs);
    }
    acceptEntry(record, entry, PROVED, nowMs);
  } else if (found.isNewReference && isSettled(entry.state)) {
    requestCleanup(record);
  }
}

/**
 * Removes a reference from the violation that has it, if there is one. Returns false when that one keeps it: the service
 * assigned it, or the violation is damaged and cannot be changed. A violation that only a link by hand with this
 * reference proved is no longer accepted.
 */
export function dropReference(record: FoundViolation, reference: string, nowMs: number): boolean {
  if (record === null) return true;
  if (record === 'damaged' || record.assignedReferences.includes(reference)) return false;
  const wasProof = record.reference === reference && isProvedByLink(record);
  record.references = record.references.filter((known) => known !== reference);
  if (record.reference === reference) record.reference = record.references[0] ?? null;
  if (wasProof) withdrawProof(record, nowMs);
  return true;
}

/** True while only a link by hand proves that the service has the violation. The shown reference is that of the link. */
function isProvedByLink(record: StoredViolation): boolean {
  const { acceptedHow, deliveredAtMs } = entryOf(record);
  return acceptedHow === PROVED && deliveredAtMs === null && record.assignedReferences.length === 0;
}

/** The service may or may not have the violation, and its images may be removed: a person decides. */
function withdrawProof(record: StoredViolation, nowMs: number): void {
  const entry = editEntry(record, entryOf(record));
  reopenEntry(record, entry);
  closeTask(record, beforeCorrectionTask(record.id).subject);
  if (entry.attemptId !== null) {
    // The result of the call in flight decides.
    change(entry, { state: 'sending', nextAtMs: nowMs });
  } else {
    entry.state = 'unknown';
    escalate(record, entry, { why: 'unknown' }, nowMs);
  }
}

/** Accepts the entry of a violation that other software reported: it is never sent. */
export function keepAsKnown(record: StoredViolation, reference: string | null, nowMs: number): void {
  acceptEntry(record, editEntry(record, entryOf(record)), KNOWN, nowMs);
  if (reference !== null) addReference(record, reference, { isAssigned: true, isMain: true });
}

/** True for the entry of a violation that other software reported. */
export function isKnownEntry({ acceptedHow }: Entry): boolean {
  return acceptedHow === KNOWN;
}

const KNOWN = 'known';
const PROVED = 'proved_by_tow_request';

/**
 * References of a violation at the service. A reference belongs to one violation at a time. A reference that the
 * service itself assigned, by its answer or by echoing our id, stays. One that only a person assigned moves to the
 * violation that is named next.
 */

/** The created violation that an accepted answer names. */
export interface AcceptedViolation {
  readonly reference: string;
  readonly serviceStatus: string | null;
  readonly canTow: boolean | null;
}

const REFERENCE_FIELDS: Readonly<Record<ViolationApi, string>> = { reference: 'violation_reference_id', guide: 'id' };

/**
 * The reference in an answer that breaks its contract, inside the envelope or bare, so that tows of the violation are
 * matched nevertheless. A number counts as its digits. Null without a usable one, and when the answer names another
 * violation.
 */
export function referenceInBroken(answer: string, violation: Violation): string | null {
  // A byte order mark before it counts as white space.
  const body = jsonIn(withQuotedNumbers(answer).trim());
  if (!isObject(body)) return null;
  const data = isObject(body['data']) ? body['data'] : body;
  const metadata = data['metadata'];
  const echo = typeof metadata === 'string' ? jsonIn(withQuotedNumbers(metadata)) : metadata;
  const reference = isEchoOfAnother(violation, echo) ? null : data[REFERENCE_FIELDS[violation.api]];
  if (typeof reference !== 'string' || reference.trim() === '') return null;
  return brokenReferenceRule(reference) === null ? reference : null;
}

/**
 * Adds a reference. Returns true when it is new. `isMain`: show this one, unless the service assigned the shown one.
 */
export function addReference(
  record: StoredViolation,
  reference: string,
  also: { readonly isAssigned?: boolean; readonly isMain?: boolean },
): boolean {
  const isNew = !record.references.includes(reference);
  if (isNew) record.references.push(reference);
  const isShownAssigned = record.reference !== null && record.assignedReferences.includes(record.reference);
  if (record.reference === null || (also.isMain && !isShownAssigned)) record.reference = reference;
  if (also.isAssigned && !record.assignedReferences.includes(reference)) record.assignedReferences.push(reference);
  return isNew;
}
