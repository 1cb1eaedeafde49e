import { headOf } from '../domain/entry';
import { violationOfMember, type OutboxRecord } from '../domain/outbox-record';
import { mayLeave } from '../domain/outbox-schedule';
import type { Effect } from './commit';
import { isFoundAlike, taskEvents, termsOf } from './indexes';
import { KEYS, towKey, violationKey } from './keys';
import type { Fields } from './packed-fields';
import { changeOfFields, type FieldsChange, type Part } from './record-parts';
import { partsOfTow } from './tow-fields';
import { partsOfViolation } from './violation-fields';

/** What follows from a change of a record besides its indexes: its schedule, its place in a line, events. */

/** Something that listeners hear of; without a reference it is about the whole operator. */
export interface StoreChange {
  readonly type: string;
  readonly towingReferenceId?: string | null;
  readonly violationId?: string;
}

/** Words of the past that a record is found by; more would make every change of it slow. The oldest go. */
const FORMER_TERMS_MAX = 1000;

/** Keeps the words of before, and notes since when a record may leave. */
export function complete(before: OutboxRecord | null, after: OutboxRecord, nowMs: number): void {
  if (!before || !isFoundAlike(before, after)) after.terms = formerTerms(before, after);
  after.overSinceMs = mayLeave(after) ? (after.overSinceMs ?? nowMs) : null;
}

function formerTerms(before: OutboxRecord | null, after: OutboxRecord): string[] {
  const current = new Set(termsOf({ ...after, terms: [] }));
  const former = (before ? termsOf(before) : after.terms).filter((term) => !current.has(term));
  return former.slice(-FORMER_TERMS_MAX);
}

/**
 * A record that does not wait for a permit any more leaves the line for permits, also one whose entry is settled or with a
 * person before it was sent: it may have a place there that it does not know of, such as one taken while a token was fetched.
 */
export function lineEffects(before: OutboxRecord | null, after: OutboxRecord): Effect[] {
  const [was, is] = [before && headOf(before.entries), headOf(after.entries)];
  if (!was || is?.waitsFor === 'budget') return [];
  const mayBeInLine = was.nextAtMs !== null && was.attemptId === null;
  const isNotSent = is?.seq !== was.seq || is.nextAtMs === null;
  if (was.waitsFor !== 'budget' && !(mayBeInLine && isNotSent)) return [];
  return [leaveLine(after)];
}

export function leaveLine(record: OutboxRecord): Effect {
  return record.kind === 'tow'
    ? ['ZREM', KEYS.slotWaiting, record.ref]
    : ['ZREM', KEYS.violationSlotWaiting, record.id];
}

/** When the lease ended that another process may still believe to hold; undefined when there is none. */
export function endedLeaseMs(before: OutboxRecord | null, nowMs: number): number | undefined {
  return before?.lease && before.lease.untilMs <= nowMs ? before.lease.untilMs : undefined;
}

export function keyOf(record: OutboxRecord): string {
  return record.kind === 'tow' ? towKey(record.ref) : violationKey(record.id);
}

/** What is written of a record that is stored as `stored`; null when nothing changed. */
export function fieldsChange(before: OutboxRecord | null, after: OutboxRecord, stored: Fields): FieldsChange | null {
  return changeOfFields(before ? partsOf(before) : [], partsOf(after), {
    stored,
    packs: after.overSinceMs !== null,
  });
}

/** Whether anything is stored of a record: an unknown tow for which nothing waits is gone. */
export function isStored(record: OutboxRecord): boolean {
  return partsOf(record).length > 0;
}

function partsOf(record: OutboxRecord): Part[] {
  return record.kind === 'tow' ? partsOfTow(record) : partsOfViolation(record);
}

export function dueOf(record: OutboxRecord, atMs: number | null): Effect[] {
  const [key, member] = record.kind === 'tow' ? [KEYS.dueTows, record.ref] : [KEYS.dueViolations, record.id];
  return [atMs === null ? ['ZREM', key, member] : ['ZADD', key, atMs, member]];
}

export function dueOfMember(member: string, atMs: number): Effect {
  const violationId = violationOfMember(member);
  return violationId === null ? ['ZADD', KEYS.dueTows, atMs, member] : ['ZADD', KEYS.dueViolations, atMs, violationId];
}

export function eventEffect({ type, towingReferenceId, violationId }: StoreChange, atMs: number): Effect {
  const about = {
    ...(towingReferenceId === undefined ? {} : { towing_reference_id: towingReferenceId }),
    ...(violationId === undefined ? {} : { violation_id: violationId }),
  };
  return ['PUBLISH', KEYS.events, JSON.stringify({ type, ...about, at_ms: atMs })];
}

/** What is announced when a record changes. */
export function eventsOf(before: OutboxRecord | null, after: OutboxRecord): StoreChange[] {
  const about =
    after.kind === 'tow' ? { towingReferenceId: after.ref } : { towingReferenceId: null, violationId: after.id };
  const { opened, closed } = taskEvents(before?.tasks ?? {}, after.tasks);
  return [
    ...Array.from({ length: opened }, () => ({ type: 'task.opened', ...about })),
    ...Array.from({ length: closed }, () => ({ type: 'task.closed', ...about })),
    { type: after.kind === 'tow' ? 'tow.changed' : 'violation.changed', ...about },
  ];
}
