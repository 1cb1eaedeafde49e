import { towDocument } from '../contracts/records';
import {
  decodeEntries,
  storedEvent,
  storedFact,
  storedLease,
  storedMeta,
  storedTasks,
  storedTerms,
} from '../contracts/stored-outbox';
import type { Entry } from '../domain/entry';
import type { RecordEvent, StoredTow } from '../domain/outbox-record';
import type { Tow } from '../domain/tow';
import type { JsonObject } from '../domain/vocabulary';
import { unpackFields, type Fields } from './packed-fields';
import { decodeRun, entryParts, jsonPart, runParts, type Part } from './record-parts';

/** A tow as the fields of its hash: see docs/architecture.md, "Redis data model". */

const PARKED = 'w:';
/** What happened and follows from nothing else, one field each: written once. */
const EVENT = /^e\d+$/;
/** What happened in the field, one fact each: seldom changed after it was recorded. */
const FACT = /^f\d+$/;

/** A tow of which nothing is stored yet. */
export function absentTow(ref: string): StoredTow {
  return {
    kind: 'tow',
    ref,
    version: '',
    tow: null,
    requestedAtMs: 0,
    lease: null,
    entries: [],
    tasks: {},
    lookAtMs: null,
    terms: [],
    overSinceMs: null,
    unknownRun: {},
    events: [],
    parked: [],
    proofAtMs: null,
  };
}

export function decodeTow(ref: string, stored: Fields): StoredTow {
  const fields = unpackFields(stored);
  const absent = absentTow(ref);
  const { v: version = '', meta, head, lease, tasks, terms, run, proof } = fields;
  const { requestedAtMs = 0, ...immutable } = meta === undefined ? {} : storedMeta.parse(JSON.parse(meta));
  const names = Object.keys(fields);
  const entries = decodeEntries(fields);
  const noted = numbered(names, FACT).map((name) => storedFact.parse(JSON.parse(fields[name] ?? '')));
  const facts = noted.map(withoutMoment);
  const tow =
    head === undefined ? null : towDocument.parse({ towingReferenceId: ref, ...immutable, facts, ...parsed(head) });
  const recorded = (tow?.facts ?? []).flatMap((fact, place): RecordEvent[] => {
    const atMs = noted[place]?.notedAtMs;
    return atMs === undefined ? [] : [{ atMs, entry: recordingOf(fact) }];
  });
  return {
    ...absent,
    version,
    requestedAtMs,
    tow,
    lease: lease === undefined ? null : storedLease.parse(JSON.parse(lease)),
    entries,
    tasks: tasks === undefined ? {} : storedTasks.parse(JSON.parse(tasks)),
    terms: terms === undefined ? [] : storedTerms.parse(JSON.parse(terms)),
    events: [
      ...numbered(names, EVENT).map((name) => storedEvent.parse(JSON.parse(fields[name] ?? ''))),
      ...recorded,
      ...entries.flatMap(acceptances),
    ].toSorted((a, b) => a.atMs - b.atMs),
    ...decodeRun(run),
    parked: names
      .filter((name) => name.startsWith(PARKED))
      .map((name) => ({ id: name.slice(PARKED.length), atMs: Number(fields[name]) })),
    proofAtMs: proof === undefined ? null : Number(proof),
  };
}

/** What is stored of a tow, or of what came for one that is not known. */
export function partsOfTow(record: StoredTow): Part[] {
  const { tow, requestedAtMs, lease, entries, tasks, terms, parked, proofAtMs } = record;
  const { facts, others } = withEvents(tow?.facts ?? [], record.events);
  const derived = entries.flatMap(acceptances);
  const events = others.filter((event) => !derived.some((known) => isSameEvent(known, event)));
  return [
    ...(tow ? partsOfDocument(tow, requestedAtMs) : []),
    ...facts.map((fact, place) => jsonPart(`f${place + 1}`, fact)),
    ...(lease ? [jsonPart('lease', lease)] : []),
    ...entryParts(entries),
    ...(Object.keys(tasks).length > 0 ? [jsonPart('tasks', tasks)] : []),
    ...(terms.length > 0 ? [jsonPart('terms', terms)] : []),
    ...events.map((event, place) => jsonPart(`e${place + 1}`, event)),
    ...runParts(record),
    ...parked.map(({ id, atMs }) => ({ name: `${PARKED}${id}`, content: atMs, text: () => String(atMs) })),
    ...(proofAtMs === null ? [] : [jsonPart('proof', proofAtMs)]),
  ];
}

function partsOfDocument(tow: Tow, requestedAtMs: number): Part[] {
  const { towingReferenceId: _, violationReferenceId, metadata, requestedAt, facts: _facts, ...head } = tow;
  return [
    // Never changes, so that its unknown fields stay.
    jsonPart('meta', { violationReferenceId, metadata, requestedAt, requestedAtMs }),
    { name: 'head', content: tow, text: () => JSON.stringify(head) },
    // Tells, also of a record that is over, that there is a tow.
    { name: 'state', content: tow.state, text: () => tow.state, isPlain: true },
  ];
}

type Fact = Tow['facts'][number];

/** The facts, each with the moment of its event, which need not be stored beside it; and the other events. */
function withEvents(facts: readonly Fact[], events: readonly RecordEvent[]) {
  const others = [...events];
  const noted = facts.map((fact) => {
    const at = others.findIndex(({ entry }) => isSame(entry, recordingOf(fact)));
    const [event] = at === -1 ? [] : others.splice(at, 1);
    return event ? { ...fact, notedAtMs: event.atMs } : fact;
  });
  return { facts: noted, others };
}

function withoutMoment(noted: { readonly notedAtMs?: number | undefined }): object {
  const { notedAtMs: _, ...fact } = noted;
  return fact;
}

function recordingOf({ event, occurredAt, by }: Fact): JsonObject {
  return { type: 'fact.recorded', event, occurred_at: occurredAt, by };
}

function isSame(one: JsonObject, other: JsonObject): boolean {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/** The event that follows from an accepted entry; it is not stored beside it. */
function acceptances({ id, state, settledAtMs, acceptedHow: how }: Entry): RecordEvent[] {
  if (state !== 'accepted' || settledAtMs === null || how === null || how === 'by_hand') return [];
  return [{ atMs: settledAtMs, entry: { type: 'report.accepted', report_id: id, how } }];
}

function isSameEvent(one: RecordEvent, other: RecordEvent): boolean {
  return one.atMs === other.atMs && isSame(one.entry, other.entry);
}

/** The names of numbered fields, by their numbers. */
function numbered(names: readonly string[], pattern: RegExp): string[] {
  return names.filter((name) => pattern.test(name)).toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

function parsed(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
