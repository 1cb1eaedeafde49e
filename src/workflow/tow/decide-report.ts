import type { TowView } from '../../contracts/operator';
import type { Actor } from '../../domain/ops/audit';
import { decideReport as decide, type DecisionCommand } from '../../domain/outbox/decide-report';
import type { FieldRule } from '../../domain/refusal';
import type { KnownTow } from '../../domain/tow/stored-tow';
import { changeTow, fieldFaults, type TowRequest } from './change-tow';
import type { ActionResult } from '../action-result';
import type { FactTools } from './record-fact';

export interface DecisionRequest extends TowRequest {
  readonly reportId: string;
  readonly command: DecisionCommand;
  readonly actor: Actor;
}

/** Carries out a person's decision on one report, or refuses and changes nothing. */
export function decideReport(tools: FactTools, request: DecisionRequest): Promise<ActionResult<TowView>> {
  return changeTow(tools.records, request, (draft, { nowMs }) => decideFor(tools, request, draft, nowMs));
}

/** The fields of a decision that break a rule of its report; see `fieldFaults`. */
export function decisionFaults(tools: FactTools, request: DecisionRequest): Promise<readonly FieldRule[]> {
  return fieldFaults(tools.records, request.ref, (tow, nowMs) => decideFor(tools, request, tow, nowMs));
}

function decideFor(
  { rules, clock }: FactTools,
  { reportId, command, actor }: DecisionRequest,
  draft: KnownTow,
  nowMs: number,
) {
  return decide(draft, reportId, command, { actor, rules, clockMs: clock.nowMs(), nowMs });
}
