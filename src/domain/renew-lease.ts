import { isSettled } from './outbox';
import type { OutboxRecord } from './outbox-record';
import type { AttemptRight } from './settle-attempt';

/**
 * Extends the lease of an attempt whose call takes longer than a lease. Changes `record`. False, and nothing changes, when
 * the lease is lost or the entry was settled meanwhile: the call must end.
 */
export function renewLease(
  record: OutboxRecord,
  right: Pick<AttemptRight, 'entry' | 'attemptId' | 'leaseToken'>,
  { nowMs, leaseMs }: { readonly nowMs: number; readonly leaseMs: number },
): boolean {
  const { lease } = record;
  const entry = record.entries.find(({ seq }) => seq === right.entry.seq);
  const isOurs = lease?.token === right.leaseToken && entry?.attemptId === right.attemptId;
  if (!lease || !entry || !isOurs || isSettled(entry.state)) return false;
  lease.untilMs = Math.max(lease.untilMs, nowMs + leaseMs);
  return true;
}
