import type { ViolationView } from '../../contracts/violation/violations';
import type { AuditEntry } from '../../domain/ops/audit';
import type { StoredViolation } from '../../domain/outbox/outbox-record';
import { unknown, type Decision } from '../../domain/refusal';
import { done, type ActionResult, refused, transactOnce } from '../action-result';
import { asReadNext } from '../outbox/read-record';
import { orderKeyOf, type IdempotencyRecord, type RecordStore, type Transaction } from '../transaction-port';
import { violationViewOf } from '../tow/views';

export interface ViolationRequest {
  /** Its id, or the id in its metadata. */
  readonly id: string;
  readonly idempotency?: IdempotencyRecord | undefined;
}

export const noSuchViolation = unknown('violation_not_found', 'There is no such violation.').refusal;

/**
 * Changes a violation as `changeTow` changes a tow. The answer is the changed violation. Two changes that name it by
 * different ids have no order; its version keeps them apart.
 */
export function changeViolation(
  records: RecordStore,
  { id, idempotency }: ViolationRequest,
  decide: (violation: StoredViolation, transaction: Transaction) => Promise<Decision<{ audit: AuditEntry }>>,
): Promise<ActionResult<ViolationView>> {
  return transactOnce(records, { orderKey: orderKeyOf('violation', id), idempotency }, async (transaction) => {
    const draft = await transaction.violationById(id);
    if (!draft) return refused(noSuchViolation);
    const decision = await decide(draft, transaction);
    if (!decision.ok) return refused(decision.refusal);
    transaction.audit(decision.audit);
    return done(violationViewOf(asReadNext(draft, transaction.nowMs)));
  });
}
