import type { StoredViolation } from './outbox-record';

/** A draft of a violation; `damaged`: it cannot be decoded, so nothing about it can be decided or written. */
export type FoundViolation = StoredViolation | 'damaged' | null;

/** True if what was found is another violation than the one with this id. A damaged one is: its id is not looked up. */
export function isOfAnother(owner: FoundViolation, violationId: string): boolean {
  return owner !== null && (owner === 'damaged' || owner.id !== violationId);
}
