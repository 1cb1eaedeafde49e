import { task, type Task } from '../contracts/records';
import type { Entry, EntryAttempt, EntryError } from '../domain/entry';
import { type StoredTow, type StoredViolation, versionNumber } from '../domain/outbox-record';
import { waitsForOf } from '../domain/shadow';
import { entryOf } from '../domain/stored-violation';
import { timelineOf } from '../domain/timeline';
import { isoTimestamp } from '../domain/timestamp';
import type { Tow } from '../domain/tow';
import type { Violation } from '../domain/violation';
import type { JsonObject, ReportKind, ReportState, ShadowState, ViolationState } from '../domain/vocabulary';
import type { QueuePlace } from '../domain/waiting';

/** Tows and violations as lists and pages read them. */

/** An outbox entry of a tow, as use cases read it. */
export interface Report {
  /** Position in the outbox, from 1. */
  readonly seq: number;
  readonly id: string;
  readonly kind: ReportKind;
  readonly state: ReportState;
  readonly body: JsonObject;
  readonly revision: number;
  readonly attempts: number;
  readonly inFlight: boolean;
  readonly waitsFor: string | null;
  /** Its place among those that wait for the rate limit; null when it does not wait, or for a draft. */
  readonly queue: QueuePlace | null;
  readonly giveUpAtMs: number | null;
  readonly mayHaveHadEffect: boolean;
  readonly createdAtMs: number;
  readonly nextAttemptAtMs: number | null;
  readonly deliveredAtMs: number | null;
  readonly lastError: EntryError | null;
  readonly hint: string | null;
  readonly reason: string | null;
  readonly answer: JsonObject | null;
  /** The body of an answer that broke the contract. */
  readonly brokenAnswer: string | null;
  /** The kind of difference of its answer, while a task asks about that kind. Meanwhile it may be sent again. */
  readonly differs: string | null;
  readonly log: readonly EntryAttempt[];
}

/** An event on the timeline of a tow. */
export interface TimelineEntry {
  /** Redis time. */
  readonly atMs: number;
  readonly type: string;
  readonly [name: string]: unknown;
}

/** Everything about one tow, read at one instant. */
export interface TowRecord {
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

export interface ViolationRecord {
  readonly violation: Violation;
  readonly state: ViolationState;
  /** Raised by every write; a decision on an older version is refused. */
  readonly version: number;
  readonly revision: number;
  readonly attempts: number;
  readonly mayHaveHadEffect: boolean;
  readonly inFlight: boolean;
  readonly nextAttemptAtMs: number | null;
  readonly waitsFor: string | null;
  /** Its place among those that wait for the rate limit; null when it does not wait, or for a draft. */
  readonly queue: QueuePlace | null;
  /** What became of it in a shadow time; null for any other. */
  readonly shadow: ShadowState | null;
  readonly giveUpAtMs: number | null;
  readonly lastError: EntryError | null;
  readonly hint: string | null;
  readonly reason: string | null;
  /** The result of the ticket check; null when none was made. */
  readonly ticket: { readonly checked_at: string; readonly has_active_ticket: boolean } | null;
  /** True once a person decided to send it without the ticket check. */
  readonly ticketOverruled: boolean;
  /** The service's reference; with the guide form its `id`. */
  readonly reference: string | null;
  /** All references, including that one: a tow may use any of them. */
  readonly references: readonly string[];
  readonly serviceStatus: string | null;
  readonly canTow: boolean | null;
  /** One of ACCEPTED_HOW, or a value of a later version. */
  readonly acceptedHow: string | null;
  readonly acceptedAtMs: number | null;
  /** See Report.differs. */
  readonly differs: string | null;
  readonly answer: JsonObject | null;
  /** The body of an answer that broke the contract. */
  readonly brokenAnswer: string | null;
  readonly towingReferenceIds: readonly string[];
  readonly log: readonly EntryAttempt[];
}

/** A stored tow as lists and pages read it; null when there is none. `nowMs` is the Redis time of the read. */
export function towRecordOf(stored: StoredTow, nowMs: number): TowRecord | null {
  const { tow, version, entries } = stored;
  if (!tow) return null;
  return {
    tow,
    version: versionNumber(version),
    reports: entries.flatMap((entry) => reportOf(entry, stored)),
    shadow: stored.shadow,
    timeline: timelineOf(stored).map(({ atMs, entry }): TimelineEntry => ({
      atMs,
      ...entry,
      type: typeof entry['type'] === 'string' ? entry['type'] : '',
    })),
    tasks: tasksOf(stored),
    readAtMs: nowMs,
  };
}

function tasksOf({ ref, tasks }: StoredTow): Task[] {
  return Object.entries(tasks).map(([id, open]) => ({
    ...task.parse({ id, ...open.task, towing_reference_id: ref }),
    opened_at: isoTimestamp(open.openedAtMs),
  }));
}

function reportOf(entry: Entry, { shadow }: StoredTow): Report[] {
  const { kind, state } = entry;
  if (kind === 'violation' || state === 'held') return [];
  return [
    {
      seq: entry.seq,
      id: entry.id,
      kind,
      state,
      body: entry.body,
      revision: entry.revision,
      attempts: entry.attempts,
      inFlight: entry.attemptId !== null,
      waitsFor: waitsForOf(entry, shadow),
      queue: null,
      giveUpAtMs: entry.giveUpAtMs,
      mayHaveHadEffect: entry.possibleEffects > 0,
      createdAtMs: entry.createdAtMs,
      nextAttemptAtMs: entry.nextAtMs,
      deliveredAtMs: entry.deliveredAtMs,
      lastError: entry.error,
      hint: entry.hint,
      reason: entry.reason,
      answer: entry.answer,
      brokenAnswer: entry.rawBody,
      differs: entry.differs,
      log: entry.log,
    },
  ];
}

/** A stored violation as lists and pages read it. */
export function violationRecordOf(stored: StoredViolation): ViolationRecord {
  const entry = entryOf(stored);
  return {
    violation: stored.violation,
    state: entry.state,
    version: versionNumber(stored.version),
    revision: entry.revision,
    attempts: entry.attempts,
    mayHaveHadEffect: entry.possibleEffects > 0,
    inFlight: entry.attemptId !== null,
    nextAttemptAtMs: entry.nextAtMs,
    waitsFor: waitsForOf(entry, stored.shadow),
    shadow: stored.shadow,
    queue: null,
    giveUpAtMs: entry.giveUpAtMs,
    lastError: entry.error,
    hint: entry.hint,
    reason: entry.reason,
    ticket: stored.ticket,
    ticketOverruled: stored.ticketOverruled,
    reference: stored.reference,
    references: stored.references,
    serviceStatus: stored.serviceStatus,
    canTow: stored.canTow,
    acceptedHow: entry.acceptedHow,
    acceptedAtMs: entry.state === 'accepted' ? entry.settledAtMs : null,
    differs: entry.differs,
    answer: entry.answer,
    brokenAnswer: entry.rawBody,
    towingReferenceIds: stored.tows,
    log: entry.log,
  };
}

/** The violation as it will be once its changed draft is committed. */
export function violationAfter(draft: StoredViolation): ViolationRecord {
  return violationRecordOf({ ...draft, version: String(versionNumber(draft.version) + 1) });
}
