import { knownLinks, storedLinks, type KnownLinks } from '../contracts/stored-outbox';
import { decodeEntries } from './entry-fields';
import { violationDocument } from '../contracts/violations';
import { newEntry } from '../domain/entry';
import type { StoredViolation } from '../domain/outbox-record';
import type { Violation } from '../domain/violation';
import { readableFields } from './readable-records';
import type { Fields } from './packed-fields';
import { commonParts, decodeCommon, jsonPart, type RecordPart } from './record-parts';

/** Encodes violations as the fields of their hashes: see docs/architecture.md, "Redis data model". */

const NO_LINKS: KnownLinks = knownLinks.parse({});

/** A violation that is not stored yet. */
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
    runAtMs: null,
    terms: [],
    overSinceMs: null,
    shadow: null,
    unknownRun: {},
    unknownLinks: {},
    ...linkFields(knownLinks.parse({})),
  };
}

/** Null when there is no violation. @throws UnusableRecord */
export function decodeViolation(stored: Fields): StoredViolation | null {
  const fields = readableFields('violation', stored);
  const { v: version, document, links } = fields;
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
    entries,
    ...decodeCommon(fields),
    ...decodeLinks(links),
  };
}

function decodeLinks(json: string | undefined) {
  if (json === undefined) return { ...linkFields(NO_LINKS), unknownLinks: {} };
  const stored = storedLinks.parse(JSON.parse(json));
  const unknown = Object.entries(stored).filter(([name]) => !(name in NO_LINKS));
  return { ...linkFields(knownLinks.parse(stored)), unknownLinks: Object.fromEntries(unknown) };
}

/** The stored links by the names of a record. */
function linkFields({ unfinishedSince, ...links }: KnownLinks) {
  return { ...links, cleanupSince: unfinishedSince };
}

/** The fields of the hash of a violation. `links` is left out while nothing in it is set. */
export function partsOfViolation(record: StoredViolation): RecordPart[] {
  const links = linksOf(record);
  return [
    jsonPart('document', record.violation),
    ...commonParts(record),
    ...(JSON.stringify(links) === JSON.stringify(NO_LINKS) ? [] : [jsonPart('links', links)]),
  ];
}

/** The fields that answers of the service and decisions have set. */
function linksOf(record: StoredViolation): KnownLinks {
  const { unknownLinks, reference, references, assignedReferences, tows, ticket, ticketOverruled, heldForTicket } =
    record;
  const { serviceStatus, canTow, cleanupSince } = record;
  const ofTicket = { ticket, ticketOverruled, heldForTicket };
  const ofService = { serviceStatus, canTow, unfinishedSince: cleanupSince };
  return { ...unknownLinks, reference, references, assignedReferences, tows, ...ofTicket, ...ofService };
}
