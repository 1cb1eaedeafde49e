import type { StoredTow, StoredViolation } from '../../src/domain/outbox-record';
import type { ReportKind } from '../../src/domain/vocabulary';
import type { Claim, Claimed, Outbox } from '../../src/workflow/outbox-port';

/** The outboxes of tows and of violations, and what they grant. */

export type TowOutbox = Outbox<StoredTow>;
export type TowClaim = Claim<StoredTow>;
export type ClaimedReport = Claimed<StoredTow>;
export type ViolationOutbox = Outbox<StoredViolation>;
export type ViolationClaim = Claim<StoredViolation>;
export type ClaimedViolation = Claimed<StoredViolation>;

/** The report that is claimed, as tasks name it. */
export function reportIn({ entry: { id, kind } }: ClaimedReport): { id: string; kind: ReportKind } {
  if (kind === 'violation') throw new Error('not a report');
  return { id, kind };
}
