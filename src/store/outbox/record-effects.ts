import { headOf } from '../../domain/outbox/outbox';
import { recordIdOf, type OutboxRecord } from '../../domain/outbox/outbox-record';
import { isArchivable, isWaitingForPermit, permitRankOf } from '../../domain/outbox/outbox-schedule';
import type { Effect } from '../redis/commit';
import { hasSameFacts, termsOf } from './indexes';
import { RECORD_KEYS, scheduleOf } from './record-kinds';

/** The consequences of a change of a record besides its indexes: schedule, waiting queue. */

/** Search terms that a record had earlier. The oldest are dropped, because more would slow down every change. */
const FORMER_TERMS_MAX = 1000;

/** Keeps earlier search terms, and the time since which a record may be archived. */
export function complete(before: OutboxRecord | null, after: OutboxRecord, nowMs: number): void {
  if (!before || !hasSameFacts(before, after)) after.terms = formerTerms(before, after);
  after.overSinceMs = isArchivable(after) ? (after.overSinceMs ?? nowMs) : null;
}

function formerTerms(before: OutboxRecord | null, after: OutboxRecord): string[] {
  const current = new Set(termsOf({ ...after, terms: [] }));
  const former = (before ? termsOf(before) : after.terms).filter((term) => !current.has(term));
  return former.slice(-FORMER_TERMS_MAX);
}

/**
 * Adds a record to the waiting queue whose call was refused for the rate limit. Removes one that no longer waits for a
 * permit. Also a record whose entry was settled or escalated before it was sent: it may have joined the queue without a
 * commit, for example while a token was fetched.
 */
export function permitQueueEffects(before: OutboxRecord | null, after: OutboxRecord, nowMs: number): Effect[] {
  const [was, is] = [before && headOf(before.entries), headOf(after.entries)];
  if (!was) return [];
  if (isWaitingForPermit(after)) return was.attemptId === null ? [] : [joinPermitQueue(after, nowMs)];
  const mayBeWaiting = was.nextAtMs !== null && was.attemptId === null;
  const isNotSent = is?.seq !== was.seq || is.nextAtMs === null;
  if (was.waitsFor !== 'budget' && !(mayBeWaiting && isNotSent)) return [];
  return [leavePermitQueue(after)];
}

function joinPermitQueue(record: OutboxRecord, nowMs: number): Effect {
  const { permitQueue } = RECORD_KEYS[record.kind];
  return ['ZADD', permitQueue, 'LT', permitRankOf(record, nowMs), recordIdOf(record)];
}

/** Changes nothing if the record is not in the waiting queue. */
export function leavePermitQueue(record: OutboxRecord): Effect {
  return ['ZREM', RECORD_KEYS[record.kind].permitQueue, recordIdOf(record)];
}

/** When the expired lease of another process ended, Unix ms; undefined without one. */
export function endedLeaseMs(before: OutboxRecord | null, nowMs: number): number | undefined {
  return before?.lease && before.lease.untilMs <= nowMs ? before.lease.untilMs : undefined;
}

/** How much of a lease may be over when it is written: a quarter of the shortest one. */
const LEASE_LATE_MAX_MS = 5000;

/**
 * When a new lease must be written at the latest, Unix ms; undefined without one. A process whose clock lags behind that
 * of Redis would otherwise begin a call under a lease that is over for all others.
 */
export function latestForLease(before: OutboxRecord | null, after: OutboxRecord, nowMs: number): number | undefined {
  const isNew = after.lease !== null && after.lease.untilMs !== before?.lease?.untilMs;
  return isNew ? nowMs + LEASE_LATE_MAX_MS : undefined;
}

/** Schedules a record for `atMs`; null removes it from its schedule. */
export function dueOf(record: OutboxRecord, atMs: number | null): Effect[] {
  const [{ due }, id] = [RECORD_KEYS[record.kind], recordIdOf(record)];
  return [atMs === null ? ['ZREM', due, id] : ['ZADD', due, atMs, id]];
}

/** Schedules the record that a member of the sets of a circuit names. */
export function dueOfMember(member: string, atMs: number): Effect {
  const [schedule, id] = scheduleOf(member);
  return ['ZADD', schedule, atMs, id];
}
