import { towDocument } from '../contracts/records';
import {
  decodeEntry,
  encodeEntry,
  storedEvent,
  storedLease,
  storedMeta,
  storedRun,
  storedTasks,
  storedTerms,
} from '../contracts/stored-outbox';
import type { StoredTow } from '../domain/outbox-record';
import { packFields, unpackFields, type Fields } from './packed-fields';

/** A tow as the fields of its hash: see docs/architecture.md, "Redis data model". */

const PARKED = 'w:';
const ENTRY = /^r\d+$/;
/** What happened, one field each: written once. */
const EVENT = /^e\d+$/;

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
  return {
    ...absent,
    version,
    requestedAtMs,
    tow: head === undefined ? null : towDocument.parse({ towingReferenceId: ref, ...immutable, ...parsedObject(head) }),
    lease: lease === undefined ? null : storedLease.parse(JSON.parse(lease)),
    entries: names
      .filter((name) => ENTRY.test(name))
      .map((name) => decodeEntry(fields[name] ?? ''))
      .toSorted((a, b) => a.seq - b.seq),
    tasks: tasks === undefined ? {} : storedTasks.parse(JSON.parse(tasks)),
    terms: terms === undefined ? [] : storedTerms.parse(JSON.parse(terms)),
    events: names
      .filter((name) => EVENT.test(name))
      .toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)))
      .map((name) => storedEvent.parse(JSON.parse(fields[name] ?? ''))),
    ...(run === undefined ? {} : storedRun.parse(JSON.parse(run))),
    parked: names
      .filter((name) => name.startsWith(PARKED))
      .map((name) => ({ id: name.slice(PARKED.length), atMs: Number(fields[name]) })),
    proofAtMs: proof === undefined ? null : Number(proof),
  };
}

export function encodeTow(record: StoredTow): Fields {
  const { tow, requestedAtMs, lease, entries, tasks, terms, events, parked, proofAtMs } = record;
  const fields: Record<string, string> = {};
  if (tow) {
    const { towingReferenceId: _, violationReferenceId, metadata, requestedAt, ...head } = tow;
    fields['meta'] = JSON.stringify({ violationReferenceId, metadata, requestedAt, requestedAtMs });
    fields['head'] = JSON.stringify(head);
  }
  if (lease) fields['lease'] = JSON.stringify(lease);
  for (const entry of entries) fields[`r${entry.seq}`] = encodeEntry(entry);
  if (Object.keys(tasks).length > 0) fields['tasks'] = JSON.stringify(tasks);
  if (terms.length > 0) fields['terms'] = JSON.stringify(terms);
  events.forEach((event, place) => (fields[`e${place + 1}`] = JSON.stringify(event)));
  const run = encodeRun(record);
  if (run !== null) fields['run'] = run;
  for (const { id, atMs } of parked) fields[`${PARKED}${id}`] = String(atMs);
  if (proofAtMs !== null) fields['proof'] = String(proofAtMs);
  const stored = record.overSinceMs === null ? fields : packFields(fields);
  // Tells, also of a record that is over, that there is a tow.
  return tow ? { ...stored, state: tow.state } : stored;
}

/** Null when all of it is initial. */
export function encodeRun(record: { lookAtMs: number | null; overSinceMs: number | null }): string | null {
  const { lookAtMs, overSinceMs } = record;
  const run = {
    ...(lookAtMs === null ? {} : { lookAtMs }),
    ...(overSinceMs === null ? {} : { overSinceMs }),
  };
  return Object.keys(run).length === 0 ? null : JSON.stringify(run);
}

function parsedObject(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
