import type { DifferenceView } from '../contracts/differences';
import { type Actor, auditOf } from '../domain/audit';
import { shownDecision, type Difference } from '../domain/difference';
import { differenceTaskId } from '../domain/tasks';
import { unknown } from '../domain/refusal';
import { isoOrNull, isoTimestamp } from '../domain/timestamp';
import { type ActionResult, done, refused, transactOnce } from './action-result';
import { orderKeyOf, type IdempotencyRecord, type RecordStore } from './transaction-port';

export const DIFFERENCE_NOT_FOUND = unknown('difference_not_found', 'There is no such kind of difference.').refusal;

export interface ExpectRequest {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/**
 * Declares a kind of difference expected: its task closes, and later messages of this kind open none. What was accepted
 * with it can no longer be sent again, and images that were kept for that are removed.
 */
export function expectDifference(
  { records }: { readonly records: RecordStore },
  { id, reason, actor, idempotency }: ExpectRequest,
): Promise<ActionResult<DifferenceView>> {
  return transactOnce(records, { orderKey: orderKeyOf('difference', id), idempotency }, async (transaction) => {
    const difference = await transaction.decideDifference(id, {
      how: 'expected',
      by: actor.name,
      reason: reason ?? null,
    });
    if (!difference) return refused(DIFFERENCE_NOT_FOUND);
    transaction.audit(auditOf(actor, 'difference.expected', { on: { difference_id: id }, why: reason }));
    return done(differenceViewOf(difference));
  });
}

/** A difference as the API shows it. */
export function differenceViewOf(difference: Difference): DifferenceView {
  const { id, source, name, shape, isTolerated, example, count, firstSeenMs, lastSeenMs } = difference;
  const { decided } = difference;
  const shown = shownDecision(difference);
  return {
    id,
    source,
    name,
    rules: [...shape],
    tolerated: isTolerated,
    example: example.map(({ field, type }) => ({ field, type })),
    count,
    first_seen_at: isoTimestamp(firstSeenMs),
    last_seen_at: isoTimestamp(lastSeenMs),
    decision: shown,
    decided_by: decided?.by ?? null,
    decided_at: isoOrNull(decided?.atMs ?? null),
    reason: decided?.reason ?? null,
    task_id: shown === 'open' ? differenceTaskId(id) : null,
  };
}
