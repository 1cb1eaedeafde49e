import { z } from 'zod';
import { copyOfEntry, type Entry } from './entry';
import { nullableNumber, nullableText, storedObject, storedRecord } from '../stored';
import { storedTask, type NewTask, violationTaskId } from '../ops/tasks';
import type { Tow } from '../tow/tow';
import { WITHHELD_STATES, type JsonObject, type UnknownFields } from '../vocabulary';
import type { Violation } from '../violation/violation';

/** Records with an outbox, as stored and as the rules see them. Timestamps are ms since the epoch, Redis time. */

export const storedLease = z.object({
  token: z.string(),
  untilMs: z.number(),
  /** When its rate limit permit was granted. */
  permitAtMs: z.number().optional(),
});

/** An open task. Its record adds the rest, such as the id. */
const taskRecord = storedRecord({ task: storedTask, openedAtMs: z.number() });
export type OpenTask = z.output<typeof taskRecord>;
/** Open tasks by their ids. */
export const storedTasks = z.record(z.string(), taskRecord);

/** An event on the timeline that follows from nothing else in the record. */
export const storedEvent = storedRecord({ atMs: z.number(), entry: storedObject });
export type RecordEvent = z.output<typeof storedEvent>;

/** The state that workers keep between two runs of a record. */
export const storedRun = storedRecord({
  /** When a record that waits for a circuit or for a rate limit permit runs again by itself. */
  runAtMs: nullableNumber,
  /** Since when it may be archived; null while it may not. */
  overSinceMs: nullableNumber,
  /** What became of a record that is withheld; null for any other, and once a person had it sent. */
  withheld: z.enum(WITHHELD_STATES).nullable().default(null),
});

/** What answers of the service and decisions have set of a violation. */
export const storedLinks = storedRecord({
  /** The reference that is shown, all references, and those that came from the service itself. */
  reference: nullableText,
  references: z.array(z.string()).default([]),
  assignedReferences: z.array(z.string()).default([]),
  tows: z.array(z.string()).default([]),
  ticket: storedRecord({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable().default(null),
  /** True when a person decided to send it without a ticket check. */
  ticketOverruled: z.boolean().default(false),
  /** True when it is held because of its ticket. */
  heldForTicket: z.boolean().default(false),
  serviceStatus: nullableText,
  canTow: z.boolean().nullable().default(null),
  /** The version number since which tows must be matched or images removed; null when nothing is left to do. */
  cleanupSince: nullableNumber,
});

interface OutboxBase extends z.output<typeof storedRun> {
  /** Changed by every commit. A decision on another version is not written. */
  version: string;
  /** The exclusive right of one worker to work on the record. */
  lease: z.output<typeof storedLease> | null;
  /** The entries of a draft are changed through `editEntry`. */
  entries: Entry[];
  tasks: z.output<typeof storedTasks>;
  /** Search terms that it had earlier and has no more, the newest 1,000. */
  terms: string[];
  /** How many changes (ops/changes.ts) it has had; 0 while the tow is unknown. */
  changeCount: number;
  /** Fields of `run` that another version of towhook stored; kept unchanged. */
  unknownRun: UnknownFields;
}

/** A parked invoice: it came before its tow request. */
interface ParkedDelivery {
  id: string;
  atMs: number;
}

/** A tow. While `tow` is null: messages for a tow that is unknown or archived. */
export interface StoredTow extends OutboxBase {
  kind: 'tow';
  ref: string;
  tow: Tow | null;
  /** When it was requested: its position in all lists. */
  requestedAtMs: number;
  events: RecordEvent[];
  parked: ParkedDelivery[];
  /** When the newest invoice webhook came, if after the first create was sent: it proves that create. */
  proofAtMs: number | null;
}

export interface StoredViolation extends OutboxBase, z.output<typeof storedLinks> {
  kind: 'violation';
  id: string;
  violation: Violation;
  createdAtMs: number;
  /** Fields of `links` that another version of towhook stored; kept unchanged. */
  unknownLinks: UnknownFields;
}

export type OutboxRecord = StoredTow | StoredViolation;
export type RecordKind = OutboxRecord['kind'];

/** The number in a version, as people see it. */
export function versionNumber(version: string): number {
  return Number.parseInt(version, 10) || 0;
}

/** The version after `before`; '' before the first one. `id` is a new one, so that two writers make different ones. */
export function nextVersion(before: string, id: string): string {
  return `${versionNumber(before) + 1}.${id.slice(0, 8)}`;
}

/** The reference of a tow; our id of a violation. */
export function recordIdOf(record: OutboxRecord): string {
  return record.kind === 'tow' ? record.ref : record.id;
}

/** A tow by its reference, or a violation by our id. */
export interface RecordName {
  readonly kind: RecordKind;
  readonly id: string;
}

/** What the members begin with: that of a tow only if its reference, whose format is free, begins with one of them. */
export const MEMBER_PREFIXES = { tow: 'tow ', violation: 'violation ' } as const;

/** The name of a record in lists of both kinds, such as those of circuits. */
export function memberOf(record: OutboxRecord): string {
  return memberNamed({ kind: record.kind, id: recordIdOf(record) });
}

/** The member that names a record; `recordNamed` is the inverse. */
export function memberNamed({ kind, id }: RecordName): string {
  const isPlain = kind === 'tow' && !Object.values(MEMBER_PREFIXES).some((prefix) => id.startsWith(prefix));
  return isPlain ? id : `${MEMBER_PREFIXES[kind]}${id}`;
}

export function recordNamed(member: string): RecordName {
  const { tow, violation } = MEMBER_PREFIXES;
  if (member.startsWith(violation)) return { kind: 'violation', id: member.slice(violation.length) };
  return { kind: 'tow', id: member.startsWith(tow) ? member.slice(tow.length) : member };
}

/** Returns the entry of a draft in a form that may be changed. The first call replaces it with a copy. */
export function editEntry(record: OutboxRecord, entry: Entry): Entry {
  if (!Object.isFrozen(entry)) return entry;
  const copy = copyOfEntry(entry);
  record.entries[record.entries.indexOf(entry)] = copy;
  return copy;
}

type TaskOwner = Pick<StoredTow, 'kind' | 'ref'> | Pick<StoredViolation, 'kind'>;

/** The id of a task: its subject; of a tow, with its reference appended. */
export function taskIdOf(record: TaskOwner, subject: string): string {
  return record.kind === 'tow' ? `${subject}.${record.ref}` : subject;
}

/** The subject of the task that asks for a decision on an entry. */
export function entrySubject(record: OutboxRecord, entry: Pick<Entry, 'id'>): string {
  return record.kind === 'tow' ? entry.id : violationTaskId(record.id);
}

/** Opens a task, or replaces the text of an open one, which keeps its age. */
export function openTask(record: OutboxRecord, { subject, ...task }: NewTask, nowMs: number): void {
  const id = taskIdOf(record, subject);
  record.tasks[id] = { task, openedAtMs: record.tasks[id]?.openedAtMs ?? nowMs };
}

/** Closes the task with this subject, if it is open. */
export function closeTask(record: OutboxRecord, subject: string): void {
  delete record.tasks[taskIdOf(record, subject)];
}

/** Events that the service causes in any number; only the newest of each type are kept. */
const REPEATED_EVENTS: ReadonlySet<unknown> = new Set(['invoice.attached', 'request.rival_kept']);
const REPEATED_EVENTS_KEPT = 20;

/** Adds an event to the timeline of a tow. */
export function addEvent(record: StoredTow, entry: JsonObject, nowMs: number): void {
  record.events.push({ atMs: nowMs, entry });
  if (!REPEATED_EVENTS.has(entry['type'])) return;
  const same = record.events.filter((event) => event.entry['type'] === entry['type']);
  if (same.length > REPEATED_EVENTS_KEPT) record.events = record.events.filter((event) => event !== same[0]);
}

/**
 * Returns a copy that a decision may change. Entries are shared until edited. The form, metadata and answers are
 * never changed in place.
 */
export function draftOf<R extends OutboxRecord>(record: R): R {
  record.entries.forEach(Object.freeze);
  const draft = { ...record };
  draft.lease = record.lease && { ...record.lease };
  draft.entries = [...record.entries];
  draft.tasks = { ...record.tasks };
  draft.terms = [...record.terms];
  if (draft.kind === 'tow') {
    draft.events = [...draft.events];
    draft.parked = [...draft.parked];
  } else {
    draft.references = [...draft.references];
    draft.assignedReferences = [...draft.assignedReferences];
    draft.tows = [...draft.tows];
  }
  return draft;
}
