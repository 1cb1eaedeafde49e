import type { Circuits } from '../domain/service/stored-circuits';
import type { AuditEntry } from '../domain/ops/audit';
import type { CircuitEffects } from '../domain/service/circuits';
import type { Delivery } from '../domain/webhook/delivery';
import type { Difference, Expected, SeenDifference } from '../domain/service/difference';
import type { StoredTow, StoredViolation } from '../domain/outbox/outbox-record';
import type { NewTask } from '../domain/ops/tasks';
import type { Violation } from '../domain/violation/violation';

/** How use cases change records: a decision changes drafts, which are committed completely or not at all. */

/** What one decision reads and changes. An unchanged draft is not written. */
export interface Transaction {
  /** Redis time at the start of the decision, ms since the epoch. */
  readonly nowMs: number;
  /** A draft of a tow; its `tow` is null when there is none. @throws UnusableRecord, DamagedRecord */
  tow(ref: string): Promise<StoredTow>;
  /** A draft of a violation by our id; null when there is none. @throws UnusableRecord, DamagedRecord */
  violation(id: string): Promise<StoredViolation | null>;
  /** Creates a violation; it is found by our id and by the id in its metadata from then on. */
  createViolation(violation: Violation): StoredViolation;
  /**
   * A draft of a violation by our id or the id in its metadata. Which violation that is must be unchanged at the
   * commit.
   */
  violationById(name: string): Promise<StoredViolation | null>;
  /** The same, by the service's reference. */
  violationByReference(reference: string): Promise<StoredViolation | null>;
  /** Makes a reference find this violation; of several violations with that reference only this one is found. */
  setReferenceOwner(reference: string, id: string): void;
  /**
   * A draft of a webhook delivery; null when there is none. `known` was just read and is not read again; if it has
   * changed, the commit is refused. @throws UnusableRecord, DamagedRecord
   */
  delivery(id: string, known?: Delivery | null): Promise<Delivery | null>;
  /** When a delivery was received, ms since the epoch, also one that is damaged; null when it is not listed. */
  receivedAtMs(id: string): Promise<number | null>;
  /** The deliveries among these that are scheduled. */
  scheduledDeliveries(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /**
   * Schedules a delivery, ms since the epoch; null removes it from the schedule. A processed delivery is removed
   * automatically.
   */
  scheduleDelivery(id: string, atMs: number | null): void;
  /** True when a tow was archived and its marker still exists. */
  isArchived(ref: string): Promise<boolean>;
  /** Opens a task that belongs to no record; false when it is open. */
  openGeneralTask(task: NewTask): Promise<boolean>;
  /** Closes a task that belongs to no record; false when it is not open. */
  closeGeneralTask(id: string): Promise<boolean>;
  /**
   * Counts messages that differ from their contract, one by default, and 0 for one that was counted before. The first of a
   * kind opens its task. Returns the id of the kind while a task asks about it; null when such messages are expected.
   */
  recordDifference(seen: SeenDifference, count?: number): Promise<string | null>;
  /** Declares a kind of difference expected, and closes its task. Null when there is no such kind. */
  expectDifference(id: string, given: Omit<Expected, 'atMs'>): Promise<Difference | null>;
  /**
   * A draft of the circuits. Without `isFresh`, a circuit that just opened may be missing while all others are
   * closed.
   */
  circuits(options?: { readonly isFresh?: boolean }): Promise<Circuits>;
  /** Reads the circuits, so that `circuits` needs no round trip later. */
  preloadCircuits(): Promise<void>;
  /** Collects the consequences of circuit changes. */
  readonly circuitEffects: CircuitEffects;
  /** Whether nothing had an effect under this key; of an item of a run, whether the run still has to carry it out. */
  isFirst(idempotency: IdempotencyRecord): Promise<boolean>;
  /** Stores that the effect was had, with the text of its answer if known. */
  storeIdempotency(idempotency: IdempotencyRecord, answer?: string): void;
  /** Adds an entry to the audit. */
  audit(entry: AuditEntry): void;
}

/** What lets an effect be had once: the commit of the effect stores it. */
export type IdempotencyRecord = IdempotencyKey | RunItemPlace;

/** The item of a run. */
export interface RunItemPlace {
  readonly runId: string;
  readonly position: number;
}

/** An `Idempotency-Key` of a request. */
export interface IdempotencyKey {
  /** Method, path and key. */
  readonly scope: string;
  /** Distinguishes a repetition from another request under the same key. */
  readonly fingerprint: string;
}

export interface RecordStore {
  /**
   * Runs a decision and commits its changes if everything it read is unchanged; otherwise runs it again on fresh
   * drafts. Resolves with the result of the committed decision. Within a process, decisions with the same `orderKey`
   * run one after another; null: in no order. Rejects when the commit was not written, or when that is uncertain.
   */
  transact<T>(orderKey: string | null, decide: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** True if this error of `transact` proves that the commit was not written and never will be. */
  isUnwritten(error: unknown): boolean;
}

/** The order key of decisions on one record. A delivery is processed under the key of its tow, if that is known. */
export function orderKeyOf(kind: 'tow' | 'violation' | 'delivery' | 'difference' | 'task', id: string): string {
  return `${kind} ${id}`;
}

export const CIRCUITS_ORDER_KEY = 'circuits';
