import type { TowView } from '../../contracts/operator';
import { auditOf, type Actor, type AuditEntry } from '../../domain/ops/audit';
import { addEvent, closeTask } from '../../domain/outbox/outbox-record';
import { conflict, invalid, type Decision } from '../../domain/refusal';
import type { KnownTow } from '../../domain/tow/stored-tow';
import { isOfAnother, linkTow } from '../../domain/violation/stored-violation';
import { TWO_VIOLATIONS } from '../../domain/ops/tasks';
import { changeTow, type TowRequest } from '../outbox/change-record';
import type { ActionResult } from '../action-result';
import { withViolation } from './match-violation';
import { foundViolation } from '../outbox/read-record';
import type { RecordStore, Transaction } from '../transaction-port';

interface LinkRequest extends TowRequest {
  /** Our id of the violation, or the id in its metadata. */
  readonly violationId: string;
  readonly actor: Actor;
}

/** Links a tow to a violation by hand, also when another violation was matched before. */
export function linkViolation(tools: { records: RecordStore }, request: LinkRequest): Promise<ActionResult<TowView>> {
  return changeTow(tools.records, request, (draft, transaction) => link(draft, transaction, request));
}

async function link(
  draft: KnownTow,
  transaction: Transaction,
  { ref, violationId, actor }: LinkRequest,
): Promise<Decision<{ audit: AuditEntry }>> {
  const violation = await transaction.violationById(violationId);
  if (!violation) return invalid([{ field: 'violation_id', rule: 'must be the id of one of our violations' }]);
  const { tow } = draft;
  const { id } = violation;
  if (tow.violationId === id) return conflict('already_linked', 'The tow is linked to this violation.');
  const former = tow.violationId === null ? null : await foundViolation(transaction.violation(tow.violationId));
  if (former && former !== 'damaged') former.tows = former.tows.filter((known) => known !== ref);
  const reference = tow.violationReferenceId;
  const owner = await foundViolation(transaction.violationByReference(reference));
  const other = isOfAnother(owner, id) ? owner : null;
  if (linkTow(violation, { towingReference: ref, reference }, other, transaction.nowMs)) {
    transaction.setReferenceOwner(reference, id);
  }
  draft.tow = withViolation(tow, violation.violation);
  closeTask(draft, TWO_VIOLATIONS);
  addEvent(draft, { type: 'violation.linked', violation_id: id, by: actor.name }, transaction.nowMs);
  const on = { towing_reference_id: ref, violation_id: id };
  return { ok: true, audit: auditOf(actor, 'tow.violation_linked', { on }) };
}
