import type { AuditEntry } from '../domain/audit';
import type { StoredTow } from '../domain/outbox-record';

/** How use cases change records: by a decision on drafts, which is committed as a whole or not at all. */

/** What one decision reads and changes. A draft that is left as it was is not written. */
export interface Transaction {
  /** Redis time when the decision began, ms since the epoch. */
  readonly nowMs: number;
  /** A draft of a tow; with `tow: null` when there is none. */
  tow(ref: string): Promise<StoredTow>;
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
