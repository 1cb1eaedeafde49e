import type { TowView } from '../contracts/operator';
import { decideReport as decide, type DecisionCommand } from '../domain/decide-report';
import { changeTow, type TowRequest } from './change-tow';
import type { Effect } from './effect';
import type { Actor, ProgressTools } from './progress';

export type { DecisionCommand } from '../domain/decide-report';

export interface DecisionRequest extends TowRequest {
  readonly reportId: string;
  readonly command: DecisionCommand;
  readonly actor: Actor;
}

/** Carries out a person's decision on one report, or refuses and changes nothing. */
export async function decideReport(tools: ProgressTools, request: DecisionRequest): Promise<Effect<TowView>> {
  const { ref, reportId, command, actor } = request;
  const effect = await changeTow(tools.records, request, (draft, { nowMs }) =>
    decide(draft, reportId, command, { actor, rules: tools.rules, clockMs: tools.clock.nowMs(), nowMs }),
  );
  if (effect.kind === 'done') tools.wake.tow(ref);
  return effect;
}
