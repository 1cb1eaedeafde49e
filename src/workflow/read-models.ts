import { type Report, task, type Task, type TimelineEntry, type TowRecord } from '../contracts/records';
import type { ViolationRecord } from '../contracts/violations';
import type { Entry } from '../domain/entry';
import { type StoredTow, type StoredViolation, versionNumber } from '../domain/outbox-record';
import { waitsForOf } from '../domain/shadow';
import { entryOf } from '../domain/stored-violation';
import { timelineOf } from '../domain/timeline';
import { isoTimestamp } from '../domain/timestamp';

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
