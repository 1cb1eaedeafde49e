import type { TowView } from '../contracts/operator';
import type { ViolationView } from '../contracts/violations';
import { auditOf, type Actor, type AuditAction, type AuditSubject } from '../domain/audit';
import type { OutboxRecord } from '../domain/outbox-record';
import type { Decision } from '../domain/refusal';
import { decideShadow, type ShadowCommand } from '../domain/shadow';
import { done, refused, transactOnce, type ActionResult } from './action-result';
import { changeTow, type TowRequest } from './change-tow';
import { noSuchViolation } from './decide-violation';
import { violationAfter } from './read-models';
import { orderKeyOfViolation, type IdempotencyRecord, type RecordStore, type Transaction } from './transaction-port';
import { violationViewOf } from './views';

/** Decisions of a person about a tow or violation of a shadow time: send it after all, or never. */

export interface ShadowRequest {
  readonly command: ShadowCommand;
  readonly actor: Actor;
}

/** Has a held tow sent in order, or declines it. */
export function decideShadowTow(
  { records }: { readonly records: RecordStore },
  request: ShadowRequest & TowRequest,
): Promise<ActionResult<TowView>> {
  return changeTow(records, request, async (draft, transaction) => {
    const decision = await decide(draft, transaction, request);
    if (!decision.ok) return decision;
    return { ok: true, audit: auditOfShadow(request, { towing_reference_id: draft.ref }) };
  });
}

export interface ShadowViolationRequest extends ShadowRequest {
  /** Its id, or the id in its metadata. */
  readonly id: string;
  readonly idempotency?: IdempotencyRecord | undefined;
}

/** Has a held violation sent, or declines it. */
export function decideShadowViolation(
  { records }: { readonly records: RecordStore },
  request: ShadowViolationRequest,
): Promise<ActionResult<ViolationView>> {
  const { id, idempotency } = request;
  return transactOnce(records, { orderKey: orderKeyOfViolation(id), idempotency }, async (transaction) => {
    const draft = await transaction.violationById(id);
    if (!draft) return refused(noSuchViolation);
    const decision = await decide(draft, transaction, request);
    if (!decision.ok) return refused(decision.refusal);
    transaction.audit(auditOfShadow(request, { violation_id: draft.id }));
    return done(violationViewOf(violationAfter(draft)));
  });
}

async function decide(
  draft: OutboxRecord,
  transaction: Transaction,
  { command, actor }: ShadowRequest,
): Promise<Decision<object>> {
  const circuits = await transaction.circuits({ isFresh: true });
  return decideShadow(draft, command, { nowMs: transaction.nowMs, circuits, by: actor.name });
}

const AUDIT_ACTIONS_OF = {
  send: 'shadow.sent',
  decline: 'shadow.declined',
} as const satisfies Record<ShadowCommand['action'], AuditAction>;

function auditOfShadow({ command, actor }: ShadowRequest, on: AuditSubject) {
  return auditOf(actor, AUDIT_ACTIONS_OF[command.action], { on, why: command.reason });
}
