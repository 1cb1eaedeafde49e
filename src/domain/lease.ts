import type { AttemptRight } from './attempt';
import { isSettled } from './outbox';
import type { OutboxRecord } from './outbox-record';

/** The right of one worker to work on a record. It ends by itself, so that a lost worker blocks nothing. */

/** Longer than any lease. A later end comes from a clock that jumped: the lease is void. */
const LEASE_MAX_MS = 600_000;

/** The lease of a record while it lasts; else null. */
export function validLease({ lease }: Pick<OutboxRecord, 'lease'>, nowMs: number): OutboxRecord['lease'] {
  return lease !== null && lease.untilMs > nowMs && lease.untilMs <= nowMs + LEASE_MAX_MS ? lease : null;
}

/** True for a lease that ends later than any lease can. */
export function hasVoidLease({ lease }: Pick<OutboxRecord, 'lease'>, nowMs: number): boolean {
  return lease !== null && lease.untilMs > nowMs + LEASE_MAX_MS;
}

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
