import { ENTRY_POLICY, type Entry } from './entry';
import { validLease } from './lease';
import { headOf, isSettled } from './outbox';
import { isProvedByInvoice } from '../tow/invoice-entries';
import { entrySubject, taskIdOf, type OutboxRecord } from './outbox-record';
import { isTerminal } from '../tow/tow';

/**
 * When a record needs a run next, ms since the epoch; null when only a decision can continue it, or nothing is left
 * to do.
 */
export function dueAtMs(record: OutboxRecord, nowMs: number): number | null {
  const lease = validLease(record, nowMs);
  if (lease) return lease.untilMs;
  const head = headOf(record.entries);
  if (!head) return record.kind === 'violation' && record.cleanupSince !== null ? nowMs : null;
  return dueOfHead(record, head, nowMs);
}

function dueOfHead(record: OutboxRecord, head: Entry, nowMs: number): number | null {
  if (head.state === 'sending' || head.attemptId !== null) return nowMs;
  if (record.kind === 'tow' && isProvedByInvoice(record, head)) return nowMs;
  if ((head.state !== 'pending' && head.state !== 'unknown') || head.nextAtMs === null) return null;
  if (record.withheld === 'held') return null;
  if (head.blockedSinceMs !== null && record.runAtMs !== null) return record.runAtMs;
  // It waits for its proof.
  if (head.state === 'unknown' && head.nextAtMs > nowMs) return head.nextAtMs;
  const dueMs = isWaitingForPermit(record) && record.runAtMs !== null ? record.runAtMs : Math.max(head.nextAtMs, nowMs);
  return head.giveUpAtMs === null ? dueMs : Math.min(dueMs, Math.max(head.giveUpAtMs, nowMs));
}

/** Reports without a vehicle position rank behind the others by this much in the waiting queue. */
const LATER_BY_MS = 600_000;

/**
 * The rank of a record in the waiting queue of the rate limit, ms: violations by when they were reported, tows with a
 * report of a vehicle position before the others. A record whose last call the service refused for its rate limit ranks
 * behind those that wait: it may be the only one that is refused.
 */
export function permitRankOf(record: OutboxRecord, nowMs: number): number {
  const head = headOf(record.entries);
  const wasThrottled = head?.error?.http_status === 429;
  if (record.kind === 'violation') return wasThrottled ? nowMs : (head?.createdAtMs ?? nowMs);
  const isUrgent = record.entries.some((entry) => !isSettled(entry.state) && ENTRY_POLICY[entry.kind].isUrgent);
  return isUrgent ? nowMs : nowMs + LATER_BY_MS;
}

/** True when a record keeps its place in the waiting queue of the rate limit. One that is withheld does not. */
export function isWaitingForPermit(record: OutboxRecord | null): boolean {
  return record !== null && record.withheld !== 'held' && headOf(record.entries)?.waitsFor === 'budget';
}

/** True when a record may be archived: it is over, all calls are settled, and no open task is about it. */
export function isArchivable(record: OutboxRecord): boolean {
  if (mayBeSent(record)) return false;
  if (record.kind === 'tow') {
    const { tow, tasks } = record;
    return tow !== null && isTerminal(tow.state) && Object.keys(tasks).length === 0;
  }
  return record.cleanupSince === null && Object.keys(record.tasks).length === 0;
}

/** True when a call of a record may still be sent. */
export function mayBeSent(record: OutboxRecord): boolean {
  return headOf(record.entries) !== undefined;
}

/** The id of the open task that asks for a decision on the head of a record; null when there is none. */
export function headTaskId(record: OutboxRecord): string | null {
  const head = headOf(record.entries);
  const id = head && taskIdOf(record, entrySubject(record, head));
  return id !== undefined && id in record.tasks ? id : null;
}
