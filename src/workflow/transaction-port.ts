import type { AuditEntry } from '../domain/audit';
import type { CircuitEffects, Circuits } from '../domain/circuits';
import type { Delivery } from '../domain/delivery';
import type { StoredTow, StoredViolation } from '../domain/outbox-record';
import type { Violation } from '../domain/violation';

/** How use cases change records: by a decision on drafts, which is committed as a whole or not at all. */

/** What one decision reads and changes. A draft that is left as it was is not written. */
export interface Transaction {
  /** Redis time when the decision began, ms since the epoch. */
  readonly nowMs: number;
  /** A draft of a tow; with `tow: null` when there is none. */
  tow(ref: string): Promise<StoredTow>;
  /** A draft of a violation by our id; null when there is none. */
  violation(id: string): Promise<StoredViolation | null>;
  /** Stores a violation for the first time; it is found by our id and by the id in its metadata from then on. */
  createViolation(violation: Violation): StoredViolation;
  /** A draft of a violation by our id or by the id in its metadata; which one that is must still hold at the commit. */
  violationCalled(name: string): Promise<StoredViolation | null>;
  /** The same by the service's name of it. */
  violationNamed(reference: string): Promise<StoredViolation | null>;
  /** Gives the service's name to a violation; of several with that name it is the one that is found by it. */
  nameViolation(reference: string, id: string): void;
  /**
   * A draft of a webhook delivery; null when there is none. With `known`, as it was read a moment ago, it is not read
   * again; if it has changed since, the decision is not committed.
   */
  delivery(id: string, known?: Delivery | null): Promise<Delivery | null>;
  /** Those of the deliveries that are on the schedule. */
  scheduledDeliveries(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Sets when a delivery is due, ms; null takes it off the schedule. A delivery that is settled leaves it by itself. */
  scheduleDelivery(id: string, atMs: number | null): void;
  /** Whether a tow was archived, and is remembered. */
  isArchived(ref: string): Promise<boolean>;
  /** Closes a task that belongs to no record; false when it is not open. */
  closeGeneralTask(id: string): Promise<boolean>;
  /** A draft of the circuits. While none is open, one that opened a moment ago may be missing, unless `isFresh`. */
  circuits(options?: { readonly isFresh?: boolean }): Promise<Circuits>;
  /** Where the rules of circuits note what follows from a change of them. */
  readonly circuitEffects: CircuitEffects;
  /** What is remembered under an Idempotency-Key; null when nothing is. */
  fingerprintOf(scope: string): Promise<string | null>;
  /** Remembers the request under its key, with the text of its answer if that is known. */
  remember(remember: (Remember & { readonly answer?: string }) | undefined): void;
  /** Adds the act of a person to the audit. */
  audit(entry: AuditEntry): void;
}

/** An `Idempotency-Key`; it is remembered by the commit of the effect. */
export interface Remember {
  /** Method, path and key. */
  readonly scope: string;
  /** Tells whether a later request under the same key asks for the same thing. */
  readonly fingerprint: string;
}

export interface RecordStore {
  /**
   * Makes a decision and commits what it changed, if all that it read is unchanged; otherwise it decides again on fresh
   * drafts. Resolves with what the committed decision returned. In one process, decisions of one line are made one after
   * another. Rejects when it is not certain whether the commit was written.
   */
  transact<T>(line: string, decide: (transaction: Transaction) => Promise<T>): Promise<T>;
}

/** The line of all decisions on one tow. */
export function lineOfTow(ref: string): string {
  return `tow ${ref}`;
}

/** The line of all decisions on one violation. */
export function lineOfViolation(id: string): string {
  return `violation ${id}`;
}

/** The line of decisions on circuits alone. */
export const LINE_OF_CIRCUITS = 'circuits';

/** The line of decisions on a delivery that concern no tow. */
export function lineOfDelivery(id: string): string {
  return `delivery ${id}`;
}
