import {
  decodeEntry,
  encodeEntry,
  storedLease,
  storedLinks,
  storedRun,
  storedTasks,
  storedTerms,
} from '../contracts/stored-outbox';
import { violationDocument } from '../contracts/violations';
import { newEntry } from '../domain/entry';
import type { StoredViolation } from '../domain/outbox-record';
import type { Violation } from '../domain/violation';
import { packFields, unpackFields, type Fields } from './packed-fields';
import { encodeRun } from './tow-fields';

/** A violation as the fields of its hash: see docs/architecture.md, "Redis data model". */

const NO_LINKS = storedLinks.parse({});

/** A violation that is about to be stored for the first time. */
export function newStoredViolation(violation: Violation, nowMs: number): StoredViolation {
  const { id } = violation;
  return {
    kind: 'violation',
    id,
    version: '',
    violation,
    createdAtMs: nowMs,
    lease: null,
    entries: [newEntry({ seq: 1, id, kind: 'violation', body: {}, nowMs })],
    tasks: {},
    lookAtMs: null,
    terms: [],
    overSinceMs: null,
    ...storedLinks.parse({}),
  };
}

/** Null when there is none. */
export function decodeViolation(stored: Fields): StoredViolation | null {
  const fields = unpackFields(stored);
  const { v: version, document, r1, links, lease, tasks, terms, run } = fields;
  if (version === undefined || document === undefined || r1 === undefined) return null;
  const violation = violationDocument.parse(JSON.parse(document));
  const entry = decodeEntry(r1);
  return {
    kind: 'violation',
    id: violation.id,
    version,
    violation,
    createdAtMs: entry.createdAtMs,
    lease: lease === undefined ? null : storedLease.parse(JSON.parse(lease)),
    entries: [entry],
    tasks: tasks === undefined ? {} : storedTasks.parse(JSON.parse(tasks)),
    terms: terms === undefined ? [] : storedTerms.parse(JSON.parse(terms)),
    ...runOf(run),
    ...storedLinks.parse(links === undefined ? {} : JSON.parse(links)),
  };
}

function runOf(run: string | undefined) {
  const { lookAtMs, overSinceMs } = storedRun.parse(run === undefined ? {} : JSON.parse(run));
  return { lookAtMs, overSinceMs };
}

export function encodeViolation(record: StoredViolation): Fields {
  const { violation, entries, lease, tasks, terms } = record;
  const fields: Record<string, string> = { document: JSON.stringify(violation) };
  for (const entry of entries) fields[`r${entry.seq}`] = encodeEntry(entry);
  const links = storedLinks.parse(record);
  if (JSON.stringify(links) !== JSON.stringify(NO_LINKS)) fields['links'] = JSON.stringify(links);
  if (lease) fields['lease'] = JSON.stringify(lease);
  if (Object.keys(tasks).length > 0) fields['tasks'] = JSON.stringify(tasks);
  if (terms.length > 0) fields['terms'] = JSON.stringify(terms);
  const run = encodeRun(record);
  if (run !== null) fields['run'] = run;
  return record.overSinceMs === null ? fields : packFields(fields);
}
