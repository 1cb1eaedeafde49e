import { z } from 'zod';
import { isEntrySettled, newEntry, type Entry } from '../domain/entry';
import type { OpenTask, RecordEvent, StoredViolation } from '../domain/outbox-record';
import { TASK_ACTIONS, TASK_TYPES } from '../domain/tasks';
import { PAUSABLE_OPERATIONS, VIOLATION_STATES } from '../domain/vocabulary';
import { attempt, reportError } from './records';
import { storedObject } from './stored';

/**
 * The fields of a tow and a violation in Redis: one hash per record, JSON in each field but the version. What has its
 * initial value is left out. Fields that this version does not know are kept.
 */

const moment = z.number().nullable();
const text = z.string().nullable();
const count = z.number().int();

const storedTask = z.looseObject({
  type: z.enum(TASK_TYPES),
  message: z.string(),
  actions: z.array(z.enum(TASK_ACTIONS)),
  report_id: z.string().exactOptional(),
  violation_id: z.string().exactOptional(),
  operation: z.enum(PAUSABLE_OPERATIONS).exactOptional(),
  http_status: z.number().nullable().exactOptional(),
  hint: z.string().nullable().exactOptional(),
});

const openTask = z.looseObject({ task: storedTask, openedAtMs: z.number() }) satisfies z.ZodType<OpenTask>;

/** The field of an entry, by its place in the outbox. */
const ENTRY = /^r\d+$/;
export const ATTEMPT = 'attempt';

const INITIAL = newEntry({ seq: 0, id: '', kind: 'violation', body: {}, nowMs: 0 });
const counted = count.default(0);
const perhapsMoment = moment.default(null);
const perhapsText = text.default(null);

const lateAnswer = z.looseObject({
  answer: storedObject.nullable(),
  rawBody: text,
  task: storedTask.extend({ subject: z.string() }).nullable(),
});

const storedEntryShape = z.looseObject({
  seq: count,
  id: z.string(),
  kind: z.enum(PAUSABLE_OPERATIONS),
  state: z.enum(VIOLATION_STATES).default('pending'),
  body: storedObject.default({}),
  revision: count.default(1),
  createdAtMs: z.number(),
  nextAtMs: moment.optional(),
  attemptId: perhapsText,
  attempts: counted,
  failures: counted,
  notFound: counted,
  unanswered: counted,
  forgiven: counted,
  possibleEffects: counted,
  connectionLosses: counted,
  drops: counted,
  ticketFailures: counted,
  firstSentAtMs: perhapsMoment,
  sentRevision: perhapsMoment,
  firstFailedAtMs: perhapsMoment,
  giveUpAtMs: perhapsMoment,
  waitsFor: perhapsText,
  blockedSinceMs: perhapsMoment,
  error: reportError.loose().nullable().default(null),
  hint: perhapsText,
  reason: perhapsText,
  forbidden: z.boolean().default(false),
  answer: storedObject.nullable().default(null),
  rawBody: perhapsText,
  lateAnswer: lateAnswer.nullable().default(null),
  deliveredAtMs: perhapsMoment,
  settledAtMs: moment.optional(),
  acceptedHow: perhapsText,
  log: z.array(attempt.loose()).default([]),
});

export const storedEntry: z.ZodType<Entry> = storedEntryShape.transform(({ nextAtMs, settledAtMs, ...stored }) => {
  const usual = usualMoments(stored);
  return {
    ...stored,
    nextAtMs: nextAtMs === undefined ? usual.nextAtMs : nextAtMs,
    settledAtMs: settledAtMs === undefined ? usual.settledAtMs : settledAtMs,
  };
});

/** An entry is due from the start until it is settled, mostly by the answer to its call. */
function usualMoments(entry: Pick<Entry, 'state' | 'createdAtMs' | 'deliveredAtMs'>) {
  return isEntrySettled(entry)
    ? { nextAtMs: null, settledAtMs: entry.deliveredAtMs }
    : { nextAtMs: entry.createdAtMs, settledAtMs: null };
}

export function decodeEntry(json: string): Entry {
  return storedEntry.parse(JSON.parse(json));
}

/**
 * What taking the right to send changes about an entry. While an attempt is in flight this is stored in a field of its own, so
 * that the entry, which may be large, need not be written again for it.
 */
const inFlight = storedEntryShape
  .pick({
    state: true,
    attemptId: true,
    attempts: true,
    ticketFailures: true,
    firstSentAtMs: true,
    sentRevision: true,
    waitsFor: true,
  })
  .extend({ seq: count });
type InFlight = z.output<typeof inFlight>;
const NOT_IN_FLIGHT = inFlight.parse({ seq: 0 });

/** The entries of a record by its fields. */
export function decodeEntries(fields: Readonly<Record<string, string>>): Entry[] {
  const { [ATTEMPT]: attempt } = fields;
  const sent: Partial<InFlight> = attempt === undefined ? {} : inFlight.parse(JSON.parse(attempt));
  return Object.keys(fields)
    .filter((name) => ENTRY.test(name))
    .map((name) => decodeEntry(fields[name] ?? ''))
    .map((entry) => (entry.seq === sent.seq ? { ...entry, ...sent } : entry))
    .toSorted((a, b) => a.seq - b.seq);
}

/** The field that holds what an attempt in flight changes about an entry, and the entry without it. */
export function splitInFlight(entry: Entry): { readonly sent: InFlight; readonly rest: Entry } {
  const { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor } = entry;
  const sent = { seq, state, attemptId, attempts, ticketFailures, firstSentAtMs, sentRevision, waitsFor };
  return { sent, rest: { ...entry, ...NOT_IN_FLIGHT, seq } };
}

/** Without what is initial anyway. */
export function encodeInFlight(sent: InFlight): string {
  const initial = new Map<string, unknown>(Object.entries(NOT_IN_FLIGHT));
  return JSON.stringify(
    Object.fromEntries(Object.entries(sent).filter(([name, value]) => initial.get(name) !== value)),
  );
}

const ALWAYS: ReadonlySet<string> = new Set(['seq', 'id', 'kind', 'createdAtMs']);
const INITIAL_VALUES: ReadonlyMap<string, unknown> = new Map(Object.entries(INITIAL));

/** An entry without what most entries of its state have. */
export function encodeEntry(entry: Entry): string {
  const stored: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(entry)) {
    if (!isInitial(entry, name, value)) stored[name] = value;
  }
  return JSON.stringify(stored);
}

function isInitial(entry: Entry, name: string, value: unknown): boolean {
  if (name === 'nextAtMs' || name === 'settledAtMs') return value === usualMoments(entry)[name];
  if (INITIAL_VALUES.get(name) === value) return !ALWAYS.has(name);
  return name === 'log' && entry.log.length === 0;
}

export const storedTasks = z.record(z.string(), openTask);
/** The fields of a record that is over, once they are inflated. */
export const packedFields = z.record(z.string(), z.string());
export const storedTerms = z.array(z.string());
export const storedEvent: z.ZodType<RecordEvent> = z.looseObject({ atMs: z.number(), entry: storedObject });
/** A fact, and when its event was noted on the timeline. The fact itself is part of the tow. */
export const storedFact = z.looseObject({ notedAtMs: z.number().optional() });
export const storedLease = z.object({ token: z.string(), untilMs: z.number(), permitAtMs: z.number().optional() });
/** What a run of a record needs to know. */
export const storedRun = z.looseObject({
  lookAtMs: moment.default(null),
  overSinceMs: moment.default(null),
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
  toldReferences: z.array(z.string()).default([]),
  tows: z.array(z.string()).default([]),
  ticket: z.object({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable().default(null),
  ticketOverruled: z.boolean().default(false),
  heldForTicket: z.boolean().default(false),
  serviceStatus: text.default(null),
  canTow: z.boolean().nullable().default(null),
  isAnswerQuestioned: z.boolean().default(false),
  unfinishedSince: moment.default(null),
} satisfies Partial<Record<keyof StoredViolation, z.ZodType>>);
export const knownLinks = storedLinks.strip();
export type KnownLinks = z.output<typeof knownLinks>;
