import type { ArchivedRecord, ArchivedType } from '../../contracts/ops/archive';

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

export type ArchivableKind = Exclude<ArchivedType, 'audit'>;

/** Finds archivable records, oldest first, and removes archived ones. */
export interface RetentionStore {
  /** Tows and violations that have been archivable, or deliveries that have been processed, for at least `keepMs`. */
  finished(kind: ArchivableKind, keepMs: number, limit: number): Promise<readonly string[]>;
  /** The version of a record; '' without one. Read it before the record, so that a later change is noticed. */
  versionOf(kind: ArchivableKind, id: string): Promise<string>;
  /** Removes a record that still has this version, a violation with its references. A tow leaves an archived marker. */
  remove(kind: ArchivableKind, id: string, version: string): Promise<RemovalResult>;
  /** The oldest audit lines written at least `keepMs` ago; never the last line. */
  auditLines(keepMs: number, limit: number): Promise<readonly string[]>;
  /** Removes these lines if they are still the oldest, else none. */
  trimAudit(lines: readonly string[]): Promise<void>;
  /** Postpones an unreadable record for an hour. */
  putOff(kind: ArchivableKind, id: string, keepMs: number): Promise<void>;
  /** Removes archived markers that have expired. Returns how many. */
  removeExpiredMarkers(): Promise<number>;
}
