import type { ArchivedRecord } from '../contracts/archive';
import type { Delivery, TowRecord } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';

/** What retention needs of the world: where finished records stand, and where they go. */

/** A record on its way into the archive; the archive adds the moment it gets there. */
export type NewArchivedRecord = ArchivedRecord extends infer R
  ? R extends ArchivedRecord
    ? Omit<R, 'archived_at'>
    : never
  : never;

export interface Archive {
  /** Resolves once the records are on disk for good: only then may they be deleted elsewhere. */
  append(records: readonly NewArchivedRecord[]): Promise<void>;
}

/** retired: it has left Redis. kept: it has changed since it was read, or may no longer leave. gone: it was not there. */
export type Retired = 'retired' | 'kept' | 'gone';

/** What may leave Redis, oldest first, and the doors through which it leaves. */
export interface RetentionStore {
  /** Tows that may leave, and could for at least `keepMs`. */
  towsOver(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Takes a tow out as it was read; a tombstone stays. */
  retireTow(ref: string, record: TowRecord | null): Promise<Retired>;
  /** Deliveries that were settled at least `keepMs` ago. */
  deliveriesSettled(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Takes a delivery out as it was read. */
  retireDelivery(id: string, record: Delivery | null): Promise<Retired>;
  /** Violations that may leave, and could for at least `keepMs`. */
  violationsOver(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Takes a violation out as it was read, with all the names it is found by. */
  retireViolation(id: string, record: ViolationRecord | null): Promise<Retired>;
  /** The oldest lines of the audit, of those written at least `keepMs` ago; never the last line there is. */
  auditLines(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Takes these lines out, all or, when they are not the oldest any more, none. */
  trimAudit(lines: readonly string[]): Promise<void>;
  /** Lets a record that cannot be read wait for an hour before it comes up again. */
  putOff(what: 'tow' | 'delivery' | 'violation', id: string, keepMs: number): Promise<void>;
  /** Forgets tows that left longer ago than anything comes late for them; says how many. */
  sweepTombstones(): Promise<number>;
}
