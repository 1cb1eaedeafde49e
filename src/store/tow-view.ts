import { task, type Report, type Task, type TimelineEntry, type TowRecord } from '../contracts/records';
import type { Entry } from '../domain/entry';
import { versionNumber, type OutboxRecord, type StoredTow } from '../domain/outbox-record';
import { taskTexts } from './indexes';

/** A stored tow as use cases read it; null when there is none. */
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
    tasks: openTasksOf(stored),
    readAtMs: nowMs,
  };
}

/** The open tasks of a record as people see them. */
export function openTasksOf(record: OutboxRecord): Task[] {
  const about = record.kind === 'tow' ? { towing_reference_id: record.ref } : {};
  return Object.values(taskTexts(record.tasks, about)).map(({ json, openedAtMs }) => ({
    ...task.parse(JSON.parse(json)),
    opened_at: new Date(openedAtMs).toISOString(),
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
