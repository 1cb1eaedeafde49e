import {
  decodeEntries,
  knownLinks,
  storedLease,
  storedLinks,
  storedTasks,
  storedTerms,
  type KnownLinks,
} from '../contracts/stored-outbox';
import { violationDocument } from '../contracts/violations';
import { newEntry } from '../domain/entry';
import type { StoredViolation } from '../domain/outbox-record';
import type { Violation } from '../domain/violation';
import { unpackFields, type Fields } from './packed-fields';
import { decodeRun, entryParts, jsonPart, runParts, type Part } from './record-parts';

/** A violation as the fields of its hash: see docs/architecture.md, "Redis data model". */

const NO_LINKS: KnownLinks = knownLinks.parse({});

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
    unknownRun: {},
    unknownLinks: {},
    ...knownLinks.parse({}),
  };
}

/** Null when there is none. */
export function decodeViolation(stored: Fields): StoredViolation | null {
  const fields = unpackFields(stored);
  const { v: version, document, links, lease, tasks, terms, run } = fields;
  if (version === undefined || document === undefined) return null;
  const violation = violationDocument.parse(JSON.parse(document));
  const entries = decodeEntries(fields);
  const [entry] = entries;
  if (!entry) return null;
  return {
    kind: 'violation',
    id: violation.id,
    version,
    violation,
    createdAtMs: entry.createdAtMs,
    lease: lease === undefined ? null : storedLease.parse(JSON.parse(lease)),
    entries,
    tasks: tasks === undefined ? {} : storedTasks.parse(JSON.parse(tasks)),
    terms: terms === undefined ? [] : storedTerms.parse(JSON.parse(terms)),
    ...decodeRun(run),
    ...decodeLinks(links),
  };
}

function decodeLinks(json: string | undefined): KnownLinks & Pick<StoredViolation, 'unknownLinks'> {
  if (json === undefined) return { ...NO_LINKS, unknownLinks: {} };
  const stored = storedLinks.parse(JSON.parse(json));
  const unknown = Object.entries(stored).filter(([name]) => !(name in NO_LINKS));
  return { ...knownLinks.parse(stored), unknownLinks: Object.fromEntries(unknown) };
}

export function partsOfViolation(record: StoredViolation): Part[] {
  const { violation, entries, lease, tasks, terms } = record;
  const links = linksOf(record);
  return [
    jsonPart('document', violation),
    ...entryParts(entries),
    ...(JSON.stringify(links) === JSON.stringify(NO_LINKS) ? [] : [jsonPart('links', links)]),
    ...(lease ? [jsonPart('lease', lease)] : []),
    ...(Object.keys(tasks).length > 0 ? [jsonPart('tasks', tasks)] : []),
    ...(terms.length > 0 ? [jsonPart('terms', terms)] : []),
    ...runParts(record),
  ];
}

/** What the service and people have said about it since it was taken in. */
function linksOf(record: StoredViolation): KnownLinks {
  const { unknownLinks, reference, references, toldReferences, tows, ticket, ticketOverruled, heldForTicket } = record;
  const { serviceStatus, canTow, isAnswerQuestioned, unfinishedSince } = record;
  const ofTicket = { ticket, ticketOverruled, heldForTicket };
  const ofService = { serviceStatus, canTow, isAnswerQuestioned, unfinishedSince };
  return { ...unknownLinks, reference, references, toldReferences, tows, ...ofTicket, ...ofService };
}
