import { z } from 'zod';
import {
  LOGGED_OUTCOMES,
  copyOfEntry,
  INITIAL_ENTRY,
  newEntry,
  WAIT_REASONS,
  type AcceptingAnswer,
  type Entry,
} from '../domain/entry';
import { isSettled } from '../domain/outbox';
import type { OpenTask, RecordEvent, StoredViolation } from '../domain/outbox-record';
import { HINTS } from '../domain/policy';
import { TASK_TYPES } from '../domain/tasks';
import { ACCEPTED_HOW, ENTRY_KINDS, SHADOW_STATES, VIOLATION_STATES } from '../domain/vocabulary';
import { attempt, reportError, task } from './records';
import { orUnknown, storedObject } from '../domain/stored';

/**
 * The fields of a tow and a violation in Redis: one hash per record, JSON in every field but the version. Initial
 * values are left out. Unknown fields are kept.
 */

const nullableNumber = z.number().nullable();
const text = z.string().nullable();
const count = z.number().int();
const waitReason = orUnknown(WAIT_REASONS).nullable();
const hint = orUnknown(HINTS).nullable();

/** A task without what its record adds. */
const storedTask = task
  .omit({ id: true, towing_reference_id: true, opened_at: true })
  .extend({ type: orUnknown(TASK_TYPES), hint: hint.exactOptional() })
  .loose();

const openTask = z.looseObject({ task: storedTask, openedAtMs: z.number() }) satisfies z.ZodType<OpenTask>;

/** The field name of an entry: its position in the outbox. */
const ENTRY = /^r\d+$/;
export const ATTEMPT = 'attempt';

const { unknownFields: _, ...INITIAL } = INITIAL_ENTRY;
const FIELDS = namesIn(INITIAL);
const INITIAL_VALUES: ReadonlyMap<string, unknown> = new Map(Object.entries(INITIAL));
const FIELD_NAMES: ReadonlySet<string> = new Set(FIELDS);
const optionalCount = count.exactOptional();
const optionalNumber = nullableNumber.exactOptional();
const optionalText = text.exactOptional();

const lateAnswer = z.looseObject({
  answer: storedObject.nullable(),
  rawBody: text,
  deliveredAtMs: z.number(),
}) satisfies z.ZodType<AcceptingAnswer>;

/** The id of an entry and its non-initial values. */
const storedEntryShape = z.looseObject({
  seq: count,
  id: z.string(),
  kind: z.enum(ENTRY_KINDS),
  state: z.enum(VIOLATION_STATES).exactOptional(),
  body: storedObject.exactOptional(),
  revision: optionalCount,
  createdAtMs: z.number(),
  nextAtMs: optionalNumber,
  attemptId: optionalText,
  attempts: optionalCount,
  failures: optionalCount,
  notFound: optionalCount,
  unanswered: optionalCount,
  forgiven: optionalCount,
  possibleEffects: optionalCount,
  connectionLosses: optionalCount,
  drops: optionalCount,
  ticketFailures: optionalCount,
  firstSentAtMs: optionalNumber,
  sentRevision: optionalNumber,
  firstFailedAtMs: optionalNumber,
  giveUpAtMs: optionalNumber,
  waitsFor: waitReason.exactOptional(),
  blockedSinceMs: optionalNumber,
  error: reportError.loose().nullable().exactOptional(),
  hint: hint.exactOptional(),
  reason: optionalText,
  forbidden: z.boolean().exactOptional(),
  answer: storedObject.nullable().exactOptional(),
  rawBody: optionalText,
  lateAnswer: lateAnswer.nullable().exactOptional(),
  deliveredAtMs: optionalNumber,
  settledAtMs: optionalNumber,
  acceptedHow: orUnknown(ACCEPTED_HOW).nullable().exactOptional(),
  log: z.array(attempt.extend({ outcome: orUnknown(LOGGED_OUTCOMES) }).loose()).exactOptional(),
}) satisfies z.ZodType<Partial<Entry>>;

/** All entries come from `newEntry`: objects of one shape are fast to copy and compare. */
export const storedEntry: z.ZodType<Entry> = storedEntryShape.transform((stored) => {
  const { seq, id, kind, body = {}, createdAtMs: nowMs } = stored;
  const entry = setFields(newEntry({ seq, id, kind, body, nowMs }), stored);
  const defaults = defaultTimes(entry);
  if (stored.nextAtMs === undefined) entry.nextAtMs = defaults.nextAtMs;
  if (stored.settledAtMs === undefined) entry.settledAtMs = defaults.settledAtMs;
  return entry;
});

function namesIn<T extends object>(fields: T): Extract<keyof T, string>[] {
  const names: Extract<keyof T, string>[] = [];
  for (const name in fields) names.push(name);
  return names;
}

/** Sets stored fields. Unknown ones are kept aside, so that all entries have the same shape. */
function setFields(entry: Entry, stored: Readonly<Record<string, unknown>>): Entry {
  const names = Object.keys(stored);
  if (names.every((name) => FIELD_NAMES.has(name))) return Object.assign(entry, stored);
  const where = (isKnown: boolean) =>
    Object.fromEntries(names.filter((name) => FIELD_NAMES.has(name) === isKnown).map((name) => [name, stored[name]]));
  entry.unknownFields = { ...entry.unknownFields, ...where(false) };
  return Object.assign(entry, where(true));
}

/** The default times: an unsettled entry is due since its creation, a settled one was settled by its answer. */
function defaultTimes(entry: Pick<Entry, 'state' | 'createdAtMs' | 'deliveredAtMs'>) {
  return isSettled(entry.state)
    ? { nextAtMs: null, settledAtMs: entry.deliveredAtMs }
    : { nextAtMs: entry.createdAtMs, settledAtMs: null };
}

export function decodeEntry(json: string): Entry {
  return storedEntry.parse(JSON.parse(json));
}

/**
 * The part of an entry that a claim changes. While an attempt is in flight it is stored in its own field, so that a
 * large entry is not rewritten.
 */
const inFlight = z.looseObject({
  seq: count,
  state: z.enum(VIOLATION_STATES).default('pending'),
  attemptId: text.default(null),
  attempts: count.default(0),
  ticketFailures: count.default(0),
  firstSentAtMs: nullableNumber.default(null),
  sentRevision: nullableNumber.default(null),
  waitsFor: waitReason.default(null),
});
type InFlight = z.output<typeof inFlight>;
const NOT_IN_FLIGHT = inFlight.parse({ seq: 0 });

export function decodeEntries(fields: Readonly<Record<string, string>>): Entry[] {
  const { [ATTEMPT]: attempt } = fields;
  const sent: Partial<InFlight> = attempt === undefined ? {} : inFlight.parse(JSON.parse(attempt));
  return Object.keys(fields)
    .filter((name) => ENTRY.test(name))
    .map((name) => decodeEntry(fields[name] ?? ''))
    .map((entry) => (entry.seq === sent.seq ? setFields(entry, sent) : entry))
    .toSorted((a, b) => a.seq - b.seq);
}

/** Splits an entry into the part that an attempt in flight changes and the rest. */
export function splitInFlight(entry: Entry): { readonly sent: InFlight; readonly rest: Entry } {
  const { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor } = entry;
  const sent = { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor };
  const rest = Object.assign(copyOfEntry(entry), NOT_IN_FLIGHT);
  rest.seq = seq;
  return { sent, rest };
}

/** Encodes without initial values. */
export function encodeInFlight(sent: InFlight): string {
  const stored: Record<string, unknown> = {};
  for (const name in sent) if (sent[name] !== NOT_IN_FLIGHT[name]) stored[name] = sent[name];
  return JSON.stringify(stored);
}

const ALWAYS: ReadonlySet<string> = new Set(['seq', 'id', 'kind', 'createdAtMs']);

/** Encodes an entry without the values that most entries of its state have. */
export function encodeEntry(entry: Entry): string {
  const stored: Record<string, unknown> = { ...entry.unknownFields };
  for (const name of FIELDS) {
    const value = entry[name];
    if (!isInitial(entry, name, value)) stored[name] = value;
  }
  return JSON.stringify(stored);
}

function isInitial(entry: Entry, name: string, value: unknown): boolean {
  if (name === 'nextAtMs' || name === 'settledAtMs') return value === defaultTimes(entry)[name];
  if (INITIAL_VALUES.get(name) === value) return !ALWAYS.has(name);
  return name === 'log' && entry.log.length === 0;
}

export const storedTasks = z.record(z.string(), openTask);
/** The fields of an archivable record, after inflating. */
export const packedFields = z.record(z.string(), z.string());
export const storedTerms = z.array(z.string());
export const storedEvent: z.ZodType<RecordEvent> = z.looseObject({ atMs: z.number(), entry: storedObject });
export const storedLease = z.object({ token: z.string(), untilMs: z.number(), permitAtMs: z.number().optional() });
export const storedRun = z.looseObject({
  runAtMs: nullableNumber.default(null),
  overSinceMs: nullableNumber.default(null),
  shadow: z.enum(SHADOW_STATES).nullable().default(null),
});
export const storedMeta = z.object({
  violationReferenceId: z.string(),
  metadata: storedObject.nullable(),
  requestedAt: z.string(),
  requestedAtMs: z.number(),
});
export const storedLinks = z.looseObject({
  reference: text.default(null),
  references: z.array(z.string()).default([]),
  assignedReferences: z.array(z.string()).default([]),
  tows: z.array(z.string()).default([]),
  ticket: z.looseObject({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable().default(null),
  ticketOverruled: z.boolean().default(false),
  heldForTicket: z.boolean().default(false),
  serviceStatus: text.default(null),
  canTow: z.boolean().nullable().default(null),
  /** `cleanupSince` of a violation. */
  unfinishedSince: nullableNumber.default(null),
} satisfies Partial<Record<keyof StoredViolation | 'unfinishedSince', z.ZodType>>);
export const knownLinks = storedLinks.strip();
export type KnownLinks = z.output<typeof knownLinks>;
