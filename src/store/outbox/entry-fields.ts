import { storedEntry, type Entry } from '../../domain/outbox/entry';
import type { Fields } from '../redis/packed-fields';

/** Encodes the entries of an outbox, each as a field of the hash of its record. Initial values are left out. */

/** The field name of an entry: its position in the outbox. */
const ENTRY = /^r\d+$/;
export const ATTEMPT = 'attempt';

const REQUIRED = { seq: 0, id: '', kind: 'violation', body: {}, createdAtMs: 0 } as const;
const INITIAL: ReadonlyMap<string, unknown> = new Map(
  Object.entries(storedEntry.parse(REQUIRED)).filter(([name]) => !(name in REQUIRED)),
);

/**
 * The part of an entry that a claim changes. While an attempt is in flight it is stored in its own field, so that a
 * large entry is not rewritten.
 */
const inFlight = storedEntry.pick({
  seq: true,
  state: true,
  attemptId: true,
  attempts: true,
  ticketFailures: true,
  firstSentAtMs: true,
  sentRevision: true,
  waitsFor: true,
});
type InFlight = Pick<Entry, keyof typeof inFlight.shape>;
const NOT_IN_FLIGHT = inFlight.parse({ seq: 0 });

export function decodeEntries(fields: Fields): Entry[] {
  const { [ATTEMPT]: attempt } = fields;
  const sent = attempt === undefined ? null : inFlight.parse(JSON.parse(attempt));
  return Object.keys(fields)
    .filter((name) => ENTRY.test(name))
    .map((name) => decodeEntry(fields[name] ?? ''))
    .map((entry) => (entry.seq === sent?.seq ? Object.assign(entry, sent) : entry))
    .toSorted((a, b) => a.seq - b.seq);
}

export function decodeEntry(json: string): Entry {
  return storedEntry.parse(JSON.parse(json));
}

/** Splits an entry into the part that an attempt in flight changes and the rest. */
export function splitInFlight(entry: Entry): { readonly sent: InFlight; readonly rest: Entry } {
  const { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor } = entry;
  const sent = { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor };
  return { sent, rest: { ...entry, ...NOT_IN_FLIGHT, seq } };
}

/** Encodes an entry, or the part in flight, without initial values. */
export function encodeEntry(entry: Partial<Entry>): string {
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(entry)) if (!isInitial(name, value)) stored[name] = value;
  return JSON.stringify(stored);
}

function isInitial(name: string, value: unknown): boolean {
  if (name === 'log') return Array.isArray(value) && value.length === 0;
  return INITIAL.get(name) === value && INITIAL.has(name);
}
