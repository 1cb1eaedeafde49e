import type { StoredTow, StoredViolation } from '../../src/domain/outbox/outbox-record';
import type { ReportKind } from '../../src/domain/vocabulary';
import type { Claim, Claimed, Outbox } from '../../src/workflow/outbox/outbox-port';
import type { Budgets } from '../../src/workflow/service/service-port';

/** The outboxes of tows and violations, and what they grant. */

export type TowOutbox = Outbox<StoredTow>;
export type TowClaim = Claim<StoredTow>;
export type ClaimedReport = Claimed<StoredTow>;
export type ViolationOutbox = Outbox<StoredViolation>;
export type ViolationClaim = Claim<StoredViolation>;
export type ClaimedViolation = Claimed<StoredViolation>;

/** The claimed report, as tasks name it. */
export function reportIn({ entry: { id, kind } }: ClaimedReport): { id: string; kind: ReportKind } {
  if (kind === 'violation') throw new Error('not a report');
  return { id, kind };
}

/** Rate limits that answer with `reserve`. Nothing closes them. */
export function budgetsOf(reserve: Budgets['reserve']): Budgets {
  return { reserve, observe: () => Promise.resolve({ closedForMs: 0 }) };
}

/** Rate limits that always grant. */
export const noBudgets = budgetsOf(() => Promise.resolve({ granted: true, inMs: 0, lastsMs: Infinity }));

/** Options of an outbox besides lease and grace: nothing is given up, and no rate limit applies. */
export const NO_LIMITS = { giveUpAfterMs: 3_600_000, rateLimit: { limit: 0, windowMs: 60_000 } } as const;
