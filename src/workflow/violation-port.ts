import type { ViolationRecord } from '../contracts/violations';
import type { AuditEntry } from '../domain/audit';
import type { ViolationState } from '../domain/vocabulary';
import type { Violation } from '../domain/violation';
import type { Act, Page, Remember, RememberAnswer, Saved } from './ports';

/** What the use cases about violations need of the store. How they are sent: outbox-port.ts. */

export interface ViolationFilter {
  readonly state: ViolationState | null;
  /** The beginning of a reference, an id or a plate. */
  readonly search: string | null;
  readonly cursor: string | null;
  readonly limit: number;
}

/** A person's decision on a violation that is not settled. */
export type ViolationDecision = { readonly audit: AuditEntry } & (
  | { readonly action: 'retry' }
  | { readonly action: 'correct'; readonly violation: Violation; readonly searchTerms: readonly string[] }
  | { readonly action: 'waive'; readonly reason: string }
  | { readonly action: 'accept'; readonly reason: string; readonly reference: string | null }
);

export interface ViolationStore {
  /** By our id, or by the id in its metadata. */
  read(id: string): Promise<ViolationRecord | null>;
  list(filter: ViolationFilter): Promise<Page<ViolationRecord>>;
  /**
   * Takes a violation in and makes it due, in one write. `alias_taken`: another violation that is still here has the same
   * id in its metadata; `alias_of_waived`: so has one that was waived, but may have been sent. Then nothing is written.
   */
  create(
    violation: Violation,
    options: { searchTerms: readonly string[] },
    act: Act<RememberAnswer>,
  ): Promise<Saved | { readonly kind: 'alias_taken' } | { readonly kind: 'alias_of_waived' }>;
  /** `reference_taken`: it was to be accepted under the name of another violation; nothing is written. */
  decide(
    before: ViolationRecord,
    decision: ViolationDecision,
    remember?: Remember,
  ): Promise<Saved | { readonly kind: 'reference_taken' }>;
}
