import type { DifferenceView } from '../../contracts/service/differences';
import { type Actor, auditOf } from '../../domain/ops/audit';
import type { Difference } from '../../domain/service/difference';
import { differenceTaskId } from '../../domain/ops/tasks';
import { unknown } from '../../domain/refusal';
import { isoOrNull, isoTimestamp } from '../../domain/timestamp';
import { type ActionResult, done, refused, transactOnce } from '../action-result';
import { orderKeyOf, type IdempotencyRecord, type RecordStore } from '../transaction-port';

const DIFFERENCE_NOT_FOUND = unknown('difference_not_found', 'There is no such kind of difference.').refusal;

export interface ExpectRequest {
  readonly id: string;
  readonly reason: string | undefined;
  readonly actor: Actor;
  readonly idempotency: IdempotencyRecord | undefined;
}

/** Declares a kind of difference expected: its task closes, and later messages of this kind are only counted. */
export function expectDifference(
  { records }: { readonly records: RecordStore },
  { id, reason, actor, idempotency }: ExpectRequest,
): Promise<ActionResult<DifferenceView>> {
  return transactOnce(records, { orderKey: orderKeyOf('difference', id), idempotency }, async (transaction) => {
    const difference = await transaction.expectDifference(id, { by: actor.name, reason: reason ?? null });
    if (!difference) return refused(DIFFERENCE_NOT_FOUND);
    transaction.audit(auditOf(actor, 'difference.expected', { on: { difference_id: id }, why: reason }));
    return done(differenceViewOf(difference));
  });
}

/** A difference as the API shows it. */
export function differenceViewOf(difference: Difference): DifferenceView {
  const { id, source, name, shape, isTolerated, example, count, waiting, expected } = difference;
  return {
    id,
    source,
    name,
    rules: [...shape],
    tolerated: isTolerated,
    example: example.map(({ field, type }) => ({ field, type })),
    count,
    waiting,
    first_seen_at: isoTimestamp(difference.firstSeenMs),
    last_seen_at: isoTimestamp(difference.lastSeenMs),
    expected_by: expected?.by ?? null,
    expected_at: isoOrNull(expected?.atMs ?? null),
    reason: expected?.reason ?? null,
    task_id: isTolerated || expected ? null : differenceTaskId(id),
  };
}
