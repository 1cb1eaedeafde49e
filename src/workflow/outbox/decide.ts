import { WITHHELD_ACTIONS } from '../../domain/vocabulary';
import type { TowView } from '../../contracts/operator';
import type { ViolationView } from '../../contracts/violation/violations';
import { auditOf, type Actor, type AuditEntry, type AuditSubject } from '../../domain/ops/audit';
import { decideReport as decide, type ReportCommand } from '../../domain/outbox/decide-report';
import { decideWithheld, type WithheldCommand } from '../../domain/outbox/withheld';
import type { OutboxRecord } from '../../domain/outbox/outbox-record';
import type { Decision, FieldRule } from '../../domain/refusal';
import type { KnownTow } from '../../domain/tow/stored-tow';
import { decideViolation as decideOnViolation, type ViolationCommand } from '../../domain/violation/decide-violation';
import { isOfAnother } from '../../domain/violation/stored-violation';
import type { Clock } from '../../platform/clock';
import { refused, type ActionResult } from '../action-result';
import type { Upload } from '../ops/spool-port';
import type { ViolationStore } from '../ports';
import type { FactTools } from '../tow/record-fact';
import type { RecordStore, Transaction } from '../transaction-port';
import {
  changeWithFiles,
  changeTow,
  changeViolation,
  fieldFaults,
  noSuchViolation,
  type TowRequest,
  type ViolationRequest,
} from './change-record';
import { correctMatchedTows } from '../violation/match-violation';
import { foundViolation } from './read-record';

/** Decisions of a person about a report or a violation. Each is carried out, or refused and changes nothing. */

interface ReportRequest extends TowRequest {
  readonly reportId: string;
  readonly command: ReportCommand;
  readonly actor: Actor;
}

export function decideReport(tools: FactTools, request: ReportRequest): Promise<ActionResult<TowView>> {
  return changeTow(tools.records, request, (draft, { nowMs }) => decideFor(tools, request, draft, nowMs));
}

/** The fields of a decision that break a rule of its report; see `fieldFaults`. */
export function decisionFaults(tools: FactTools, request: ReportRequest): Promise<readonly FieldRule[]> {
  return fieldFaults(tools.records, request.ref, (tow, nowMs) => decideFor(tools, request, tow, nowMs));
}

function decideFor(
  { rules, clock }: FactTools,
  { reportId, command, actor }: ReportRequest,
  draft: KnownTow,
  nowMs: number,
) {
  return decide(draft, reportId, command, { actor, rules, clockMs: clock.nowMs(), nowMs });
}

interface DecideTools {
  readonly records: RecordStore;
  readonly clock: Clock;
}

interface DecisionRequest<D extends ViolationCommand = ViolationCommand> extends ViolationRequest {
  readonly command: D;
  readonly actor: Actor;
}

export function decideViolation(tools: DecideTools, request: DecisionRequest): Promise<ActionResult<ViolationView>> {
  const { command, actor } = request;
  return changeViolation(tools.records, request, async (draft, transaction) => {
    const reference = command.action === 'accept' ? command.reference : null;
    const owner = reference === null ? null : await foundViolation(transaction.violationByReference(reference));
    const isTaken = isOfAnother(owner, draft.id);
    const context = { actor, clockMs: tools.clock.nowMs(), nowMs: transaction.nowMs, isTaken };
    const decision = decideOnViolation(draft, command, context);
    if (decision.ok && reference !== null) transaction.setReferenceOwner(reference, draft.id);
    if (decision.ok && command.action === 'correct') await correctMatchedTows(transaction, draft);
    return decision;
  });
}

/** Corrects a violation with other images, and perhaps fields; or refuses and keeps none of them. */
export async function replaceImages(
  tools: DecideTools & { readonly violations: Pick<ViolationStore, 'read'> },
  request: DecisionRequest<Extract<ViolationCommand, { readonly action: 'correct' }>> & { readonly upload: Upload },
): Promise<ActionResult<ViolationView>> {
  const record = await tools.violations.read(request.id);
  if (!record) return refused(noSuchViolation);
  const { id } = record;
  // By its own id: another violation may take the id in its metadata meanwhile, and the files are kept for this one.
  const decideOnFound = () => decideViolation(tools, { ...request, id });
  return changeWithFiles(tools.records, { upload: request.upload, place: { kind: 'violation', id } }, decideOnFound);
}

interface HeldRequest {
  readonly command: WithheldCommand;
  readonly actor: Actor;
}

/** Has a held tow sent in order, or declines it. */
export function decideHeldTow(
  { records }: { readonly records: RecordStore },
  request: HeldRequest & TowRequest,
): Promise<ActionResult<TowView>> {
  return changeTow(records, request, (draft, transaction) =>
    decideHeld(draft, transaction, request, { towing_reference_id: draft.ref }),
  );
}

/** Has a held violation sent, or declines it. */
export function decideHeldViolation(
  { records }: { readonly records: RecordStore },
  request: HeldRequest & ViolationRequest,
): Promise<ActionResult<ViolationView>> {
  return changeViolation(records, request, (draft, transaction) =>
    decideHeld(draft, transaction, request, { violation_id: draft.id }),
  );
}

async function decideHeld(
  draft: OutboxRecord,
  transaction: Transaction,
  { command, actor }: HeldRequest,
  on: AuditSubject,
): Promise<Decision<{ audit: AuditEntry }>> {
  const circuits = await transaction.circuits({ isFresh: true });
  const decision = decideWithheld(draft, command, { nowMs: transaction.nowMs, circuits, by: actor.name });
  if (!decision.ok) return decision;
  return { ok: true, audit: auditOf(actor, WITHHELD_ACTIONS[command.action], { on, why: command.reason }) };
}
