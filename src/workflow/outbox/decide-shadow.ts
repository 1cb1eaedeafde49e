import type { TowView } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violation/violations';
import { auditOf, type Actor, type AuditAction, type AuditEntry, type AuditSubject } from '../../domain/ops/audit';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import type { Decision } from '../../domain/refusal';
import { decideShadow, type ShadowCommand } from '../../domain/outbox/held-record';
import type { ActionResult } from '../action-result';
import { changeTow, type TowRequest } from '../tow/change-tow';
import { changeViolation, type ViolationRequest } from '../violation/change-violation';
import type { RecordStore, Transaction } from '../transaction-port';

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
  return changeTow(records, request, (draft, transaction) =>
    decide(draft, transaction, request, { towing_reference_id: draft.ref }),
  );
}

/** Has a held violation sent, or declines it. */
export function decideShadowViolation(
  { records }: { readonly records: RecordStore },
  request: ShadowRequest & ViolationRequest,
): Promise<ActionResult<ViolationView>> {
  return changeViolation(records, request, (draft, transaction) =>
    decide(draft, transaction, request, { violation_id: draft.id }),
  );
}

async function decide(
  draft: OutboxRecord,
  transaction: Transaction,
  { command, actor }: ShadowRequest,
  on: AuditSubject,
): Promise<Decision<{ audit: AuditEntry }>> {
  const circuits = await transaction.circuits({ isFresh: true });
  const decision = decideShadow(draft, command, { nowMs: transaction.nowMs, circuits, by: actor.name });
  if (!decision.ok) return decision;
  return { ok: true, audit: auditOf(actor, AUDIT_ACTIONS_OF[command.action], { on, why: command.reason }) };
}

const AUDIT_ACTIONS_OF = {
  send: 'shadow.sent',
  decline: 'shadow.declined',
} as const satisfies Record<ShadowCommand['action'], AuditAction>;
