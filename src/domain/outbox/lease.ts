import type { Entry } from './entry';
import { isSettled } from './outbox';
import type { OutboxRecord } from './outbox-record';

/**
 * The rights of one worker, which end with the lease of the record: a lost worker blocks nothing. A lease alone gives the
 * right to work on the record, and with an attempt in flight the right to send its entry. A worker gets them by a claim
 * (workflow/outbox/outbox-port.ts).
 */

/** The right to work on a record: to check its entry before a call. */
export interface LeaseRight<R extends OutboxRecord = OutboxRecord> {
  /** The record as it was when the right was granted. */
  readonly record: R;
  /** The head of its outbox. */
  readonly entry: Entry;
  readonly leaseToken: string;
}

/** The right to send that entry once. */
export interface AttemptRight<R extends OutboxRecord = OutboxRecord> extends LeaseRight<R> {
  readonly attemptId: string;
  /** Consecutive connection failures when the right was granted. */
  readonly connectionFailures: number;
}

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
 * Extends the lease of an attempt whose call takes longer than a lease, or leaves late. Changes `record`. False, and
 * nothing changes, when the lease is lost or the entry was settled meanwhile: the call must end.
 */
export function renewLease(
  record: OutboxRecord,
  right: AttemptRight,
  { nowMs, leaseMs }: { readonly nowMs: number; readonly leaseMs: number },
): boolean {
  const { lease } = record;
  const entry = record.entries.find(({ seq }) => seq === right.entry.seq);
  const isOurs = lease?.token === right.leaseToken && entry?.attemptId === right.attemptId;
  if (!lease || !entry || !isOurs || isSettled(entry.state)) return false;
  // Always later, so that there is a commit: only that shows whether the lease is still ours.
  lease.untilMs = Math.max(lease.untilMs + 1, nowMs + leaseMs);
  return true;
}
