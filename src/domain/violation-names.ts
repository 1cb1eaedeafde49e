import { openTask, type StoredViolation } from './outbox-record';
import { acceptEntry, beginClearingUp } from './settle-entry';
import { isEntrySettled, type Entry } from './entry';
import { beforeCorrectionTask } from './violation-tasks';

/**
 * How a violation is called by the service. A reference is the name of one violation at a time. What the service itself has
 * told, by its answer or by echoing our id, stays where it is; what only people said goes to the violation that they, or the
 * service, name next.
 */

/** What an accepted answer says about the violation that the service took. */
export interface ServiceName {
  readonly reference: string;
  readonly serviceStatus: string | null;
  readonly canTow: boolean | null;
}

/** One more name. True when it is new. `isMain`: it is the one to show, unless the service told the one that is shown. */
export function addReference(
  record: StoredViolation,
  reference: string,
  also: { readonly isTold?: boolean; readonly isMain?: boolean },
): boolean {
  const isNew = !record.references.includes(reference);
  if (isNew) record.references.push(reference);
  const isShownTold = record.reference !== null && record.toldReferences.includes(record.reference);
  if (record.reference === null || (also.isMain && !isShownTold)) record.reference = reference;
  if (also.isTold && !record.toldReferences.includes(reference)) record.toldReferences.push(reference);
  return isNew;
}

/** Takes a name from a violation, unless the service told it of this one. True when that could be done. */
export function dropReference(record: StoredViolation, reference: string): boolean {
  if (record.toldReferences.includes(reference)) return false;
  record.references = record.references.filter((known) => known !== reference);
  if (record.reference === reference) record.reference = record.references[0] ?? null;
  return true;
}

/** What was surely never sent cannot have been taken. */
export function mayHaveBeenSent(entry: Entry): boolean {
  const { possibleEffects, attemptId, state } = entry;
  return possibleEffects > 0 || attemptId !== null || state === 'unknown' || state === 'accepted';
}

/** Notes that a tow comes from a violation. `proves`: the service has the violation. */
export function noteTow(
  record: StoredViolation,
  entry: Entry,
  found: { readonly towingReference: string; readonly isNewReference: boolean; readonly proves: boolean },
  nowMs: number,
): void {
  const isNewTow = !record.tows.includes(found.towingReference);
  if (isNewTow) record.tows.push(found.towingReference);
  if (!(isNewTow || found.isNewReference || found.proves)) return;
  if (found.proves) {
    if (entry.sentRevision !== null && entry.sentRevision !== entry.revision) {
      openTask(record, beforeCorrectionTask(record.id), nowMs);
    }
    acceptEntry(record, entry, 'proved_by_tow_request', nowMs);
  } else if (found.isNewReference && isEntrySettled(entry)) {
    beginClearingUp(record);
  }
}
