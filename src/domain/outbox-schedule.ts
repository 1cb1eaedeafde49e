import { headOf, isEntrySettled, type Entry } from './entry';
import { isProvedByInvoice } from './invoice-proof';
import type { OutboxRecord } from './outbox-record';
import { isTerminal } from './tow';
import { violationTaskId } from './violation-tasks';

/**
 * When a record needs a worker next, ms since the epoch; null when only a person can go on, or nothing is left to do.
 */
export function dueAtMs(record: OutboxRecord, nowMs: number): number | null {
  if (record.lease && record.lease.untilMs > nowMs) return record.lease.untilMs;
  const head = headOf(record.entries);
  if (!head) return record.kind === 'violation' && record.unfinishedSince !== null ? nowMs : null;
  return dueOfHead(record, head, nowMs);
}

function dueOfHead(record: OutboxRecord, head: Entry, nowMs: number): number | null {
  if (head.state === 'sending' || head.attemptId !== null) return nowMs;
  if (record.kind === 'tow' && isProvedByInvoice(record, head)) return nowMs;
  if ((head.state !== 'pending' && head.state !== 'unknown') || head.nextAtMs === null) return null;
  const waits = head.blockedSinceMs !== null || waitsForPermit(record);
  if (waits && record.lookAtMs !== null) return record.lookAtMs;
  const dueMs = Math.max(head.nextAtMs, nowMs);
  return head.giveUpAtMs === null ? dueMs : Math.min(dueMs, Math.max(head.giveUpAtMs, nowMs));
}

/** Whether a record keeps its place in the line for permits of the rate limit. */
export function waitsForPermit(record: OutboxRecord | null): boolean {
  return record !== null && headOf(record.entries)?.waitsFor === 'budget';
}

/** True when a record may leave for the archive: it is over, owes nothing, and has no open task. */
export function mayLeave(record: OutboxRecord): boolean {
  if (!record.entries.every(isEntrySettled)) return false;
  if (record.kind === 'tow') {
    const { tow, tasks } = record;
    return tow !== null && isTerminal(tow.state) && Object.keys(tasks).length === 0;
  }
  return record.unfinishedSince === null && Object.keys(record.tasks).length === 0;
}

/** Whether a person is asked how a record goes on. */
export function isWithPerson(record: OutboxRecord): boolean {
  const head = headOf(record.entries);
  if (!head) return false;
  const id = record.kind === 'tow' ? `${head.id}.${record.ref}` : violationTaskId(record.id);
  return id in record.tasks;
}
