import { decodeEntries } from '../outbox/entry-fields';
import { newEntry } from '../../domain/outbox/entry';
import { storedLinks, type StoredViolation } from '../../domain/outbox/outbox-record';
import { violationDocument, type Violation } from '../../domain/violation/violation';
import { readableFields } from '../outbox/readable-records';
import type { Fields } from '../redis/packed-fields';
import { commonParts, decodeCommon, jsonPart, type RecordPart } from '../outbox/record-parts';

/** Encodes violations as the fields of their hashes: see docs/redis-data-model.md. */

const knownLinks = storedLinks.strip();
const NO_LINKS = knownLinks.parse({});

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
    withheld: null,
    changeCount: 0,
    unknownRun: {},
    unknownLinks: {},
    ...knownLinks.parse({}),
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
  const stored = storedLinks.parse(json === undefined ? {} : JSON.parse(json));
  const unknown = Object.entries(stored).filter(([name]) => !(name in NO_LINKS));
  return { ...knownLinks.parse(stored), unknownLinks: Object.fromEntries(unknown) };
}

/** The fields of the hash of a violation. `links` is left out while nothing in it is set. */
export function partsOfViolation(record: StoredViolation): RecordPart[] {
  const links = { ...record.unknownLinks, ...knownLinks.parse(record) };
  return [
    jsonPart('document', record.violation),
    ...commonParts(record),
    ...(JSON.stringify(links) === JSON.stringify(NO_LINKS) ? [] : [jsonPart('links', links)]),
  ];
}
