import { isReport } from '../../src/domain/outbox/outbox';
import { versionNumber, type StoredViolation } from '../../src/domain/outbox/outbox-record';
import type { KnownTow } from '../../src/domain/tow/stored-tow';
import { timelineOf } from '../../src/domain/tow/timeline';
import type { JsonObject } from '../../src/domain/vocabulary';
import { entryOf } from '../../src/domain/violation/stored-violation';
import { tasksOf, type AsRead } from '../../src/workflow/outbox/read-record';

/** A tow as tests look at it: with reports, timeline and tasks. */
export function seenTow(record: AsRead<KnownTow>) {
  return {
    ...record,
    version: versionNumber(record.version),
    reports: record.entries.filter(isReport),
    timeline: timelineOf(record).map(({ atMs, entry }): JsonObject & { readonly type: string } => {
      return { atMs, ...entry, type: typeof entry['type'] === 'string' ? entry['type'] : '' };
    }),
    tasks: tasksOf(record),
  };
}

/** A violation and its entry in one. */
export function seenViolation(record: AsRead<StoredViolation>) {
  return { ...entryOf(record), ...record, version: versionNumber(record.version), tasks: tasksOf(record) };
}
