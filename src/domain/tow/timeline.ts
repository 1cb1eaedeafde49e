import type { Entry } from '../outbox/entry';
import { addEvent, type RecordEvent, type StoredTow } from '../outbox/outbox-record';
import type { KnownTow } from './stored-tow';
import type { Fact } from './tow';
import type { JsonObject } from '../vocabulary';

/** The timeline of a tow: stored events, and events that follow from its facts and reports. */

/** All events, oldest first. */
export function timelineOf({ tow, events, entries }: StoredTow): RecordEvent[] {
  return [...events, ...(tow?.facts ?? []).flatMap(recordingOf), ...entries.flatMap(acceptanceOf)].toSorted(
    (a, b) => a.atMs - b.atMs,
  );
}

/** Marks the newest fact as recorded now. `explanation` is what is kept for the record and not sent. */
export function markFactRecorded(record: KnownTow, explanation: JsonObject, nowMs: number): void {
  const { tow } = record;
  const fact = tow.facts.at(-1);
  if (!fact) return;
  if (Object.keys(explanation).length > 0) addEvent(record, { ...recordingEntry(fact), ...explanation }, nowMs);
  else record.tow = { ...tow, facts: [...tow.facts.slice(0, -1), { ...fact, notedAtMs: nowMs }] };
}

/** Stores the events of facts that a correction changes. */
export function keepRecordings(record: KnownTow, corrected: readonly Fact[]): void {
  const changed = record.tow.facts.filter((fact) => !corrected.includes(fact));
  record.events.push(...changed.flatMap(recordingOf));
}

function recordingOf(fact: Fact): RecordEvent[] {
  return fact.notedAtMs === undefined ? [] : [{ atMs: fact.notedAtMs, entry: recordingEntry(fact) }];
}

function recordingEntry({ event, occurredAt, by }: Fact): JsonObject {
  return { type: 'fact.recorded', event, occurred_at: occurredAt, by };
}

/** A decision by hand is a stored event, with actor and reason. */
function acceptanceOf({ id, state, settledAtMs, acceptedHow: how }: Entry): RecordEvent[] {
  if (state !== 'accepted' || settledAtMs === null || how === null || how === 'by_hand') return [];
  return [{ atMs: settledAtMs, entry: { type: 'report.accepted', report_id: id, how: how.toString() } }];
}
