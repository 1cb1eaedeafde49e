import type { ArchivedType, ArchivedRecord } from '../../contracts/ops/archive';
import { storedObject } from '../../domain/stored';
import type { Delivery } from '../../domain/webhook/delivery';
import { errorFacts } from '../../platform/errors';
import type { Log } from '../../platform/log/log';
import type { DeliveryStore, TowStore, ViolationStore } from '../ports';
import type { Entry } from '../../domain/outbox/entry';
import { versionNumber, type StoredViolation } from '../../domain/outbox/outbox-record';
import type { KnownTow } from '../../domain/tow/stored-tow';
import { timelineOf } from '../../domain/tow/timeline';
import { entryOf } from '../../domain/violation/stored-violation';

/**
 * Moves finished records from Redis to the archive. A record is read, archived, and deleted only if it is unchanged
 * and safely on disk. After a crash in between it is archived again; the last archived copy counts.
 *
 * - tows: over, settled and without an open task. An archived marker stays for late messages.
 * - deliveries: processed, with their raw bodies, as proof of what the service requested, including late ones and
 *   unknown fields.
 * - violations: settled, without an open task, cleanup done.
 * - audit lines.
 */
export interface RetentionTools {
  readonly tows: Pick<TowStore, 'read'>;
  readonly deliveries: Pick<DeliveryStore, 'read'>;
  readonly violations: Pick<ViolationStore, 'read'>;
  readonly retention: RetentionStore;
  readonly archive: Archive;
  readonly keep: KeepTimes;
  /** True for an error of Redis that may be over later. */
  readonly isTransient: (error: unknown) => boolean;
  readonly log: Log;
}

/** How long finished records stay in Redis. */
export interface KeepTimes {
  readonly deliveriesMs: number;
  readonly towsMs: number;
  readonly violationsMs: number;
  readonly auditMs: number;
  /** Changes are not archived. */
  readonly changesMs: number;
}

/** What one sweep archived; `more`: another sweep would find something at once. */
export interface Swept {
  readonly archived: Readonly<Record<ArchivedType, number>>;
  readonly more: boolean;
}

/** A batch ends at one of these limits, which bound reads and memory. */
const BATCH_RECORDS_MAX = 100;
const BATCH_CHARACTERS_MAX = 4_000_000;

/** Archives and deletes one batch per kind of record. Rejects when the archive or Redis fails; nothing is lost then. */
export async function sweep(tools: RetentionTools): Promise<Swept> {
  const deliveries = await sweepKind(tools, deliveriesOf(tools));
  const tows = await sweepKind(tools, towsOf(tools));
  const violations = await sweepKind(tools, violationsOf(tools));
  const audit = await sweepAudit(tools);
  await tools.retention.removeExpiredMarkers();
  await tools.retention.removeOldChanges(tools.keep.changesMs);
  return {
    archived: {
      tow: tows.archived,
      delivery: deliveries.archived,
      violation: violations.archived,
      audit: audit.archived,
    },
    more: deliveries.more || tows.more || violations.more || audit.more,
  };
}

interface SweptKind {
  readonly archived: number;
  readonly more: boolean;
}

/** How records of one kind are read and archived. */
interface RetainedKind<R> {
  readonly what: ArchivableKind;
  readonly keepMs: number;
  read(id: string): Promise<R | null>;
  lineOf(record: R): NewArchivedRecord;
}

function deliveriesOf({ deliveries, keep }: RetentionTools): RetainedKind<Delivery> {
  return {
    what: 'delivery',
    keepMs: keep.deliveriesMs,
    read: (id) => deliveries.read(id),
    lineOf: (delivery) => ({ type: 'delivery', id: delivery.id, data: storedObject.parse(delivery) }),
  };
}

function towsOf({ tows, keep }: RetentionTools): RetainedKind<KnownTow> {
  return {
    what: 'tow',
    keepMs: keep.towsMs,
    read: (ref) => tows.read(ref),
    lineOf: (record) => {
      const data: unknown = JSON.parse(JSON.stringify(archivedTow(record)));
      return { type: 'tow', id: record.tow.towingReferenceId, data: storedObject.parse(data) };
    },
  };
}

function violationsOf({ violations, keep }: RetentionTools): RetainedKind<StoredViolation> {
  return {
    what: 'violation',
    keepMs: keep.violationsMs,
    read: (id) => violations.read(id),
    lineOf: (record) => {
      const data: unknown = JSON.parse(JSON.stringify(archivedViolation(record)));
      return { type: 'violation', id: record.violation.id, data: storedObject.parse(data) };
    },
  };
}

async function sweepKind<R>(tools: RetentionTools, kind: RetainedKind<R>): Promise<SweptKind> {
  const candidates = await tools.retention.finished(kind.what, kind.keepMs, BATCH_RECORDS_MAX);
  const batch: { id: string; version: string }[] = [];
  const lines: NewArchivedRecord[] = [];
  let characters = 0;
  for (const id of candidates) {
    if (characters >= BATCH_CHARACTERS_MAX) break;
    const version = await tools.retention.versionOf(kind.what, id);
    const line = await readLine(tools, kind, id);
    if (line === 'unreadable') continue;
    batch.push({ id, version });
    if (line === null) continue;
    lines.push(line);
    characters += JSON.stringify(line.data).length;
  }
  if (lines.length > 0) await tools.archive.append(lines);
  const removal = await Promise.all(batch.map(({ id, version }) => tools.retention.remove(kind.what, id, version)));
  const hasLeft = removal.some((outcome) => outcome !== 'kept');
  const isWhole = candidates.length < BATCH_RECORDS_MAX && characters < BATCH_CHARACTERS_MAX;
  return { archived: lines.length, more: hasLeft && !isWhole };
}

/**
 * Returns the line of a record, or null when the record is gone. An unreadable one is postponed, so that it does not
 * block the others.
 */
async function readLine<R>(
  tools: RetentionTools,
  kind: RetainedKind<R>,
  id: string,
): Promise<NewArchivedRecord | 'unreadable' | null> {
  try {
    const record = await kind.read(id);
    return record === null ? null : kind.lineOf(record);
  } catch (error) {
    // A read that fails for Redis shows nothing about the record.
    if (tools.isTransient(error)) throw error;
    await tools.retention.putOff(kind.what, id, kind.keepMs);
    // The message of a parse error may quote the record.
    tools.log.error('retention.unreadable', { what: kind.what, id, error_name: errorFacts(error)['error_name'] });
    return 'unreadable';
  }
}

async function sweepAudit({ retention, archive, keep }: RetentionTools): Promise<SweptKind> {
  const lines = await retention.auditLines(keep.auditMs, BATCH_RECORDS_MAX);
  if (lines.length > 0) {
    await archive.append(lines.map((line) => ({ type: 'audit', id: line.split(' ', 1)[0] ?? '', data: { line } })));
    await retention.trimAudit(lines);
  }
  return { archived: lines.length, more: lines.length === BATCH_RECORDS_MAX };
}

/** What the archive keeps of a record. Files are kept forever and read alike, so their field names never change. */

function archivedTow(record: KnownTow) {
  const { tow, version, entries } = record;
  const timeline = timelineOf(record).map(({ atMs, entry }) => ({ atMs, ...entry }));
  return { tow, version: versionNumber(version), reports: entries.map(archivedReport), timeline };
}

function archivedReport(report: Entry) {
  const { seq, id, kind, body, createdAtMs, deliveredAtMs } = report;
  return { seq, id, kind, body, createdAtMs, deliveredAtMs, ...archivedEntry(report) };
}

function archivedViolation(record: StoredViolation) {
  const { violation, withheld, reference, references, serviceStatus, canTow, ticket, ticketOverruled, tows } = record;
  const entry = entryOf(record);
  const { acceptedHow, state, settledAtMs } = entry;
  const version = versionNumber(record.version);
  const ofService = { reference, references, serviceStatus, canTow, towingReferenceIds: tows };
  const accepted = { acceptedHow, acceptedAtMs: state === 'accepted' ? settledAtMs : null };
  return { violation, version, withheld, ticket, ticketOverruled, ...ofService, ...accepted, ...archivedEntry(entry) };
}

function archivedEntry(entry: Entry) {
  const { state, revision, attempts, waitsFor, giveUpAtMs, hint, reason, answer, log } = entry;
  const same = { state, revision, attempts, waitsFor, giveUpAtMs, hint, reason, answer, log };
  return {
    ...same,
    inFlight: entry.attemptId !== null,
    mayHaveHadEffect: entry.possibleEffects > 0,
    nextAttemptAtMs: entry.nextAtMs,
    lastError: entry.error,
    brokenAnswer: entry.rawBody,
  };
}

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
  /** Removes changes that are older. */
  removeOldChanges(keepMs: number): Promise<void>;
}
