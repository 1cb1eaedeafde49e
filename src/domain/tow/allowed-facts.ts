import type { FactCommand, FactContext } from './fact-command';
import { advance, FACTS, type FactForm, type FactTable } from './facts';
import { forbidden, type Refusal } from '../refusal';
import type { Tow } from './tow';
import { FACT_EVENTS, roleAllows, type FactEvent } from '../vocabulary';

/**
 * The facts that a person may record of a tow now. No rule is repeated here: each fact is tried with everything that a
 * person could enter, and is allowed if the rule does not refuse it.
 */

export type AllowedFact =
  | (FactForm & { readonly allowed: true })
  | { readonly event: FactEvent; readonly allowed: false; readonly refusal: Refusal };

/** Every fact in the order of FACT_EVENTS: allowed with what its form needs, or refused with the rule. */
export function allowedFacts(tow: Tow, context: FactContext): AllowedFact[] {
  return FACT_EVENTS.map((event) => {
    const { role, trials, form }: FactTable[FactEvent] = FACTS[event];
    const refusal = roleAllows(context.role, role)
      ? refusalOfTrials(trials(context), tow, context)
      : forbidden(`Only ${role} or above may do this.`).refusal;
    return refusal === null ? { ...form(tow, context), allowed: true } : { event, allowed: false, refusal };
  });
}

/**
 * The refusal if every trial is refused; null if the fact is allowed. It is that of the first trial that is not recorded
 * already: a tow on hold with a part payment waits for the hold, because its final payment can still come.
 */
function refusalOfTrials(trials: readonly FactCommand[], tow: Tow, context: FactContext): Refusal | null {
  let first: Refusal | null = null;
  for (const command of trials) {
    const decision = advance(tow, command, context);
    // A person can correct a field that fails its rule, so the fact itself is allowed.
    if (decision.ok || decision.refusal.kind === 'invalid') return null;
    if (first === null || first.code === 'already_recorded') first = decision.refusal;
  }
  return first;
}
