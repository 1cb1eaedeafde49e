import type { ArchivedRecord } from '../contracts/archive';
import type { TowRecord } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';
import type { Delivery } from '../domain/delivery';

/** The ports of retention: finished records, and where they go. */

/** A record to archive; the archive adds the time. */
export type NewArchivedRecord = ArchivedRecord extends infer R
  ? R extends ArchivedRecord
    ? Omit<R, 'archived_at'>
    : never
  : never;

export interface Archive {
  /** Resolves once the records are safely on disk: only then may they be deleted elsewhere. */
  append(records: readonly NewArchivedRecord[]): Promise<void>;
}

/**
 * removed: deleted from Redis. kept: it changed since the read, or may not be archived any more. gone: it was not
 * there.
 */
export type RemovalResult = 'removed' | 'kept' | 'gone';

/** Finds archivable records, oldest first, and removes archived ones. */
export interface RetentionStore {
  /** Tows that have been archivable for at least `keepMs`. */
  finishedTows(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Removes a tow if it is unchanged since the read; an archived marker stays. */
  removeTow(ref: string, record: TowRecord | null): Promise<RemovalResult>;
  /** Deliveries that were processed at least `keepMs` ago. */
  settledDeliveries(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Removes a delivery if it is unchanged since the read. */
  removeDelivery(id: string, record: Delivery | null): Promise<RemovalResult>;
  /** Violations that have been archivable for at least `keepMs`. */
  finishedViolations(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Removes a violation if it is unchanged since the read, with all its references. */
  removeViolation(id: string, record: ViolationRecord | null): Promise<RemovalResult>;
  /** The oldest audit lines written at least `keepMs` ago; never the last line. */
  auditLines(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Removes these lines if they are still the oldest, else none. */
  trimAudit(lines: readonly string[]): Promise<void>;
  /** Postpones an unreadable record for an hour. */
  putOff(what: 'tow' | 'delivery' | 'violation', id: string, keepMs: number): Promise<void>;
  /** Removes archived markers that have expired. Returns how many. */
  removeExpiredMarkers(): Promise<number>;
}
