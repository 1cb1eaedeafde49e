import { decodeEntries } from '../outbox/entry-fields';
import { storedEvent, type StoredTow } from '../../domain/outbox/outbox-record';
import { towDocument, towMeta, type Tow } from '../../domain/tow/tow';
import { readableFields } from '../outbox/readable-records';
import type { Fields } from '../redis/packed-fields';
import { commonParts, decodeCommon, jsonPart, type RecordPart } from '../outbox/record-parts';

/** Encodes tows as the fields of their hashes: see docs/redis-data-model.md. */

const PARKED = 'w:';
/** Events that do not follow from other fields, one field each; written once. */
const EVENT = /^e\d+$/;
/** Facts, one field each; seldom changed after they were recorded. */
const FACT = /^f\d+$/;

/** @throws UnusableRecord */
export function decodeTow(ref: string, stored: Fields): StoredTow {
  const fields = readableFields('tow', stored);
  const { v: version = '', meta, head, proof } = fields;
  const { requestedAtMs = 0, ...immutable } = meta === undefined ? {} : towMeta.parse(JSON.parse(meta));
  const names = Object.keys(fields);
  const entries = decodeEntries(fields);
  const facts = parsedAll(fields, numbered(names, FACT));
  const tow =
    head === undefined ? null : towDocument.parse({ towingReferenceId: ref, ...immutable, facts, ...parsed(head) });
  return {
    kind: 'tow',
    ref,
    version,
    tow,
    requestedAtMs,
    entries,
    ...decodeCommon(fields),
    events: parsedAll(fields, numbered(names, EVENT)).map((event) => storedEvent.parse(event)),
    parked: names
      .filter((name) => name.startsWith(PARKED))
      .map((name) => ({ id: name.slice(PARKED.length), atMs: Number(fields[name]) })),
    proofAtMs: proof === undefined ? null : Number(proof),
  };
}

/** The stored fields of a tow, or of the parked invoices of an unknown one. */
export function partsOfTow(record: StoredTow): RecordPart[] {
  const { tow, requestedAtMs, events, parked, proofAtMs } = record;
  const parts = tow ? partsOfDocument(tow, requestedAtMs) : [];
  tow?.facts.forEach((fact, place) => parts.push(jsonPart(`f${place + 1}`, fact)));
  parts.push(...commonParts(record));
  events.forEach((event, place) => parts.push(jsonPart(`e${place + 1}`, event)));
  for (const { id, atMs } of parked) parts.push({ name: `${PARKED}${id}`, content: atMs, text: () => String(atMs) });
  if (proofAtMs !== null) parts.push(jsonPart('proof', proofAtMs));
  return parts;
}

function partsOfDocument(tow: Tow, requestedAtMs: number): RecordPart[] {
  const { violationReferenceId, metadata, requestedAt } = tow;
  return [
    // Never rewritten, so that fields of other versions in it stay.
    jsonPart('meta', { violationReferenceId, metadata, requestedAt, requestedAtMs }),
    { name: 'head', content: tow, text: () => headText(tow) },
    // Never packed: its existence shows that the tow exists.
    { name: 'state', content: tow.state, text: () => tow.state, isPlain: true },
  ];
}

/** What has no field of its own. */
function headText({
  towingReferenceId: _ref,
  violationReferenceId: _violation,
  metadata: _metadata,
  requestedAt: _requested,
  facts: _facts,
  ...head
}: Tow): string {
  return JSON.stringify(head);
}

/** The names of numbered fields, in numerical order. */
function numbered(names: readonly string[], pattern: RegExp): string[] {
  return names.filter((name) => pattern.test(name)).toSorted((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
}

function parsedAll(fields: Fields, names: readonly string[]): unknown[] {
  return names.map((name): unknown => JSON.parse(fields[name] ?? ''));
}

function parsed(json: string): object {
  const value: unknown = JSON.parse(json);
  return typeof value === 'object' && value !== null ? value : {};
}
