import { task, type Report, type Task, type TimelineEntry, type TowRecord } from '../contracts/records';
import type { Entry } from '../domain/entry';
import { versionNumber, type StoredTow } from '../domain/outbox-record';

/** A stored tow as lists and pages read it; null when there is none. `nowMs` is Redis time of the reading. */
export function towRecordOf(stored: StoredTow, nowMs: number): TowRecord | null {
  const { tow, version, entries, events } = stored;
  if (!tow) return null;
  return {
    tow,
    version: versionNumber(version),
    reports: entries.flatMap(reportOf),
    timeline: events.map(({ atMs, entry }): TimelineEntry => ({
      ...entry,
      type: typeof entry['type'] === 'string' ? entry['type'] : '',
      atMs,
    })),
    tasks: tasksOf(stored),
    readAtMs: nowMs,
  };
}

function tasksOf({ ref, tasks }: StoredTow): Task[] {
  return Object.entries(tasks).map(([id, open]) => ({
    ...task.parse({ id, ...open.task, towing_reference_id: ref }),
    opened_at: new Date(open.openedAtMs).toISOString(),
  }));
}

function reportOf(entry: Entry): Report[] {
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
      waitsFor: entry.waitsFor,
      firstFailedAtMs: entry.firstFailedAtMs,
      giveUpAtMs: entry.giveUpAtMs,
      failures: entry.failures,
      mayHaveHadEffect: entry.possibleEffects > 0,
      createdAtMs: entry.createdAtMs,
      nextAttemptAtMs: entry.nextAtMs,
      deliveredAtMs: entry.deliveredAtMs,
      lastError: entry.error,
      hint: entry.hint,
      reason: entry.reason,
      answer: entry.answer,
      brokenAnswer: entry.rawBody,
      log: entry.log,
    },
  ];
}
