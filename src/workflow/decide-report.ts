import type { TowView } from '../contracts/operator';
import type { Actor } from '../domain/audit';
import { decideReport as decide, type DecisionCommand } from '../domain/decide-report';
import { changeTow, type TowRequest } from './change-tow';
import type { ActionResult } from './action-result';
import type { FactTools } from './record-fact';

export interface DecisionRequest extends TowRequest {
  readonly reportId: string;
  readonly command: DecisionCommand;
  readonly actor: Actor;
}

/** Carries out a person's decision on one report, or refuses and changes nothing. */
export function decideReport(tools: FactTools, request: DecisionRequest): Promise<ActionResult<TowView>> {
  const { reportId, command, actor } = request;
  return changeTow(tools.records, request, (draft, { nowMs }) =>
    decide(draft, reportId, command, { actor, rules: tools.rules, clockMs: tools.clock.nowMs(), nowMs }),
  );
}
