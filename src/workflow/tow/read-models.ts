import { task, type Task } from '../../contracts/outbox/records';
import type { Entry } from '../../domain/outbox/entry';
import { isReport, type ReportEntry } from '../../domain/outbox/outbox';
import { type OutboxRecord, type StoredViolation, versionNumber } from '../../domain/outbox/outbox-record';
import { asShown } from '../../domain/outbox/held-record';
import type { KnownTow } from '../../domain/tow/stored-tow';
import { entryOf } from '../../domain/violation/stored-violation';
import { timelineOf } from '../../domain/tow/timeline';
import { isoTimestamp } from '../../domain/timestamp';
import type { Tow } from '../../domain/tow/tow';
import type { ShadowState } from '../../domain/vocabulary';
import type { QueuePlace } from '../../domain/outbox/waiting';

/** Tows and violations as lists and pages read them. The fields of their entries have the names of the rules. */

/** What a list reads beside the record. */
interface WithQueuePlace {
  /** Its place among those that wait for the rate limit; null when it does not wait, or for a draft. */
  readonly queue: QueuePlace | null;
}

/** A report of a tow. */
export type Report = Readonly<ReportEntry> & WithQueuePlace;

/** An event on the timeline of a tow. */
export interface TimelineEntry {
  /** Redis time. */
  readonly atMs: number;
  readonly type: string;
  readonly [name: string]: unknown;
}

/** Everything about one tow, read at one instant. */
export interface TowReadModel {
  readonly tow: Tow;
  /** Raised by every write; a decision on an older version is refused. */
  readonly version: number;
  readonly reports: readonly Report[];
  /** What became of it in a shadow time; null for any other. */
  readonly shadow: ShadowState | null;
  readonly timeline: readonly TimelineEntry[];
  readonly tasks: readonly Task[];
  /** Redis time of the read. */
  readonly readAtMs: number;
}

/** A violation and its entry in one. */
export type ViolationReadModel = Readonly<Entry> &
  WithQueuePlace &
  Readonly<Pick<StoredViolation, 'violation' | 'shadow' | 'ticket' | 'ticketOverruled' | 'serviceStatus' | 'canTow'>> &
  Readonly<Pick<StoredViolation, 'reference' | 'references' | 'tows'>> & {
    /** Raised by every write; a decision on an older version is refused. */
    readonly version: number;
    readonly tasks: readonly Task[];
  };

/** `nowMs` is the Redis time of the read. */
export function towReadModelOf(stored: KnownTow, nowMs: number): TowReadModel {
  const { tow, version, entries, shadow } = stored;
  return {
    tow,
    version: versionNumber(version),
    reports: entries.filter(isReport).map((entry) => ({ ...asShown(entry, shadow), queue: null })),
    shadow,
    timeline: timelineOf(stored).map(({ atMs, entry }): TimelineEntry => ({
      atMs,
      ...entry,
      type: typeof entry['type'] === 'string' ? entry['type'] : '',
    })),
    tasks: tasksOf(stored, { towing_reference_id: stored.ref }),
    readAtMs: nowMs,
  };
}

function tasksOf({ tasks }: OutboxRecord, about: { readonly towing_reference_id?: string }): Task[] {
  return Object.entries(tasks).map(([id, open]) => ({
    ...task.parse({ id, ...open.task, type: open.task.type.toString(), ...about }),
    opened_at: isoTimestamp(open.openedAtMs),
  }));
}

export function violationReadModelOf(stored: StoredViolation): ViolationReadModel {
  const { violation, shadow, ticket, ticketOverruled, serviceStatus, canTow, reference, references, tows } = stored;
  return {
    ...asShown(entryOf(stored), shadow),
    violation,
    shadow,
    ticket,
    ticketOverruled,
    serviceStatus,
    canTow,
    reference,
    references,
    tows,
    version: versionNumber(stored.version),
    tasks: tasksOf(stored, {}),
    queue: null,
  };
}

/** The tow as it will be once its changed draft is committed. */
export function towAfter(draft: KnownTow, nowMs: number): TowReadModel {
  return { ...towReadModelOf(draft, nowMs), version: versionNumber(draft.version) + 1 };
}

/** The same of a violation. */
export function violationAfter(draft: StoredViolation): ViolationReadModel {
  return { ...violationReadModelOf(draft), version: versionNumber(draft.version) + 1 };
}
