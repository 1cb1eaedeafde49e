import type { Entry } from './entry';
import type { NewTask } from './tasks';
import type { Tow } from './tow';
import type { JsonObject } from './vocabulary';
import type { Violation } from './violation';

/** The records that have an outbox, as they are stored and as the rules see them. Moments are ms since the epoch. */

export interface Lease {
  token: string;
  untilMs: number;
  /** When the permit of the rate limit was granted that came with it. */
  permitAtMs?: number | undefined;
}

/** An open task; `task` is what its record adds to it, such as its id. */
export interface OpenTask {
  task: Omit<NewTask, 'subject'>;
  openedAtMs: number;
}

/** Something that happened to a record and follows from nothing else in it. */
export interface RecordEvent {
  atMs: number;
  entry: JsonObject;
}

interface OutboxBase {
  /** Changed by every commit: a decision on another version is not written. */
  version: string;
  /** The right of one worker to work on the record. */
  lease: Lease | null;
  entries: Entry[];
  /** Open tasks by their ids. */
  tasks: Record<string, OpenTask>;
  /** When a record that a circuit blocks looks again by itself. */
  lookAtMs: number | null;
  /** Words it is found by; only ever added to. */
  terms: string[];
  /** Since when it may leave for the archive; null while it may not. */
  overSinceMs: number | null;
  /** What another version of towhook stored in `run`; kept for it. */
  unknownRun: UnknownFields;
}

export type UnknownFields = Readonly<Record<string, unknown>>;

/** An invoice that waits for its tow request. */
export interface ParkedDelivery {
  id: string;
  atMs: number;
}

/** A tow, or, while `tow` is null, what came for one that is not known yet or is in the archive. */
export interface StoredTow extends OutboxBase {
  kind: 'tow';
  ref: string;
  tow: Tow | null;
  /** When it was requested: its place in all lists. */
  requestedAtMs: number;
  events: RecordEvent[];
  parked: ParkedDelivery[];
  /** When the newest invoice webhook came, since the first create was sent: proves that create. */
  proofAtMs: number | null;
}

export interface StoredViolation extends OutboxBase {
  kind: 'violation';
  id: string;
  violation: Violation;
  createdAtMs: number;
  /** The service's name that is shown; all its names; those that the service told. */
  reference: string | null;
  references: string[];
  toldReferences: string[];
  /** Towing references of the tows that came from it. */
  tows: string[];
  ticket: { checked_at: string; has_active_ticket: boolean } | null;
  /** A person said that the ticket does not matter. */
  ticketOverruled: boolean;
  /** Why it is held. */
  heldForTicket: boolean;
  serviceStatus: string | null;
  canTow: boolean | null;
  /** A person is asked about the answer by which it was accepted: its images stay, and it may be sent again. */
  isAnswerQuestioned: boolean;
  /** The version number since which tows are to be joined or images to be dropped; null when nothing is left to do. */
  unfinishedSince: number | null;
  /** What another version of towhook stored in `links`; kept for it. */
  unknownLinks: UnknownFields;
}

export type OutboxRecord = StoredTow | StoredViolation;

/** The number in a version: what people see of it. */
export function versionNumber(version: string): number {
  return Number.parseInt(version, 10) || 0;
}

/** The reference of a tow, the id of a violation. */
export function recordIdOf(record: OutboxRecord): string {
  return record.kind === 'tow' ? record.ref : record.id;
}

/** The name of a record among all: what circuits and permits know it by. */
export function memberOf(record: OutboxRecord): string {
  return record.kind === 'tow' ? record.ref : violationMember(record.id);
}

export function violationMember(id: string): string {
  return `violation ${id}`;
}

/** The violation that a member names; null when it names a tow. */
export function violationOfMember(member: string): string | null {
  return member.startsWith('violation ') ? member.slice('violation '.length) : null;
}

/** The id of the question about an entry. */
export function entryTaskId(record: OutboxRecord, entry: Pick<Entry, 'id'>): string {
  return record.kind === 'tow' ? `${entry.id}.${record.ref}` : `violation.${record.id}`;
}

/** Opens a task, or replaces the text of an open one, which keeps its age. */
export function openTask(record: OutboxRecord, { subject, ...task }: NewTask, nowMs: number): void {
  const id = record.kind === 'tow' ? `${subject}.${record.ref}` : subject;
  record.tasks[id] = { task, openedAtMs: record.tasks[id]?.openedAtMs ?? nowMs };
}

export function closeTask(record: OutboxRecord, id: string): void {
  delete record.tasks[id];
}

/** Events that the service causes, any number of them; the newest of each type are kept. */
const REPEATED_EVENTS: ReadonlySet<unknown> = new Set(['invoice.attached', 'request.rival_kept']);
const REPEATED_EVENTS_KEPT = 20;

/** Notes what happened on the timeline of a tow. */
export function noteEvent(record: OutboxRecord, entry: JsonObject, nowMs: number): void {
  if (record.kind !== 'tow') return;
  record.events.push({ atMs: nowMs, entry });
  if (!REPEATED_EVENTS.has(entry['type'])) return;
  const same = record.events.filter((event) => event.entry['type'] === entry['type']);
  if (same.length > REPEATED_EVENTS_KEPT) record.events = record.events.filter((event) => event !== same[0]);
}

/** A copy that a decision may change. Form, metadata and answers are never changed in place and so are shared. */
export function draftOf<R extends OutboxRecord>(record: R): R {
  return {
    ...record,
    lease: record.lease && { ...record.lease },
    entries: record.entries.map((entry) => ({ ...entry, log: [...entry.log] })),
    tasks: { ...record.tasks },
    terms: [...record.terms],
    ...(record.kind === 'tow'
      ? { events: [...record.events], parked: [...record.parked] }
      : { references: [...record.references], toldReferences: [...record.toldReferences], tows: [...record.tows] }),
  };
}
