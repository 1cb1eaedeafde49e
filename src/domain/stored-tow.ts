import { newEntry, type Entry } from './entry';
import type { StoredTow } from './outbox-record';
import type { Owed, ReportStanding } from './outbox';
import type { Tow } from './tow';

/** A tow that is known: its request has come, and it is not in the archive. */
export type KnownTow = StoredTow & { tow: Tow };

export function isKnown(record: StoredTow): record is KnownTow {
  return record.tow !== null;
}

/** What the rules need to know of the reports of a tow. */
export function reportsOf({ entries }: StoredTow): ReportStanding[] {
  return entries.flatMap(({ id, kind, state, possibleEffects, attemptId }) =>
    kind === 'violation' || state === 'held'
      ? []
      : [{ id, kind, state, mayHaveHadEffect: possibleEffects > 0, inFlight: attemptId !== null }],
  );
}

/** Appends a report to the outbox: it is owed from now on. */
export function oweReport(record: StoredTow, { kind, body }: Owed, nowMs: number): void {
  const seq = record.entries.length + 1;
  record.entries.push(newEntry({ seq, id: `${kind}-${seq}`, kind, body, nowMs }));
}

/** Invoice webhooks, and rival requests, that are kept in the record of a tow; all of them stay deliveries. */
const WEBHOOKS_KEPT = 20;

/** Bounds what one tow collects: every change of a tow reads and writes all of it. */
export function withNewest<T>(kept: readonly T[], newest: T): T[] {
  return [...kept, newest].slice(-WEBHOOKS_KEPT);
}

/** The report of this id; it throws when there is none. */
export function entryNamed(record: StoredTow, id: string): Entry {
  const entry = record.entries.find((known) => known.id === id);
  if (!entry) throw new Error(`no report ${id} on this tow`);
  return entry;
}
