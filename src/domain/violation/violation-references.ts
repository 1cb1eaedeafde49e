import { isObject, withQuotedNumbers, jsonIn } from '../json';
import type { StoredViolation } from '../outbox/outbox-record';
import { isEchoOfAnother, type Violation } from './violation';
import { brokenReferenceRule, type ViolationApi } from '../vocabulary';

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
