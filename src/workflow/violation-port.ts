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
  /** The violation a tow request is about: by the service's reference, else by the id in its metadata. */
  find(named: { reference: string; metadataId: string | null }): Promise<ViolationRecord | null>;
  /**
   * Notes that a tow came from a violation, and under which reference the service knows it. Of a violation that may have
   * been sent without an answer this is the proof that the service has it: it is accepted and its task is closed; where
   * the form was corrected since it was sent, an informing task is opened. `shownAs`: the name that the violation is shown
   * under. `taken`: another violation has that name. `gone`: there is no such violation. Doing it twice is doing it once.
   */
  joined(
    id: string,
    tow: JoiningTow,
  ): Promise<{ readonly kind: 'joined'; readonly shownAs: string } | { readonly kind: 'taken' | 'gone' }>;
  /**
   * The same by a person's word, for a tow that was thought to come from the violation `before`, if any: that one loses it,
   * and with it the service's name, unless the service itself told that name of another violation than this one.
   */
  linked(id: string, tow: JoiningTow, before: string | null): Promise<'linked' | 'gone'>;
}

/** A tow, and the service's name of the violation it comes from. */
export interface JoiningTow {
  readonly towingReference: string;
  readonly reference: string;
}
