import type { Advance, FactCommand, FactContext } from './fact-command';
import { advance, FACTS, type FactForm, type FactTable } from './facts';
import { forbidden, type Refusal } from './refusal';
import type { Tow } from './tow';
import { FACT_EVENTS, roleAllows, type FactEvent, type Role } from './vocabulary';

/**
 * The facts that a person may record of a tow now. No rule is repeated here: each fact is tried with everything that a
 * person could enter, and is allowed if the rule does not refuse it.
 */

export type AllowedFact =
  | (FactForm & { readonly allowed: true })
  | { readonly event: FactEvent; readonly allowed: false; readonly refusal: Refusal };

/** Every fact in the order of FACT_EVENTS: allowed with what its form needs, or refused with the rule. */
export function allowedFacts(tow: Tow, context: FactContext): AllowedFact[] {
  return FACT_EVENTS.map((event) => allowedFact(event, tow, context));
}

/** Whether one fact is allowed: with what its form needs, or refused with the rule. */
export function allowedFact(event: FactEvent, tow: Tow, context: FactContext): AllowedFact {
  const { role, trials, form }: FactTable[FactEvent] = FACTS[event];
  const rule: TriedRule<FactCommand> = { role, trials, record: advance };
  const refusal = refusalOfTrials(rule, tow, context);
  return refusal === null ? { ...form(tow, context), allowed: true } : { event, allowed: false, refusal };
}

/** A rule and the commands to try it with. */
export interface TriedRule<C> {
  readonly role: Role;
  readonly trials: (context: FactContext) => readonly C[];
  record(tow: Tow, command: C, context: FactContext): Advance;
}

/**
 * The refusal if every trial is refused; null if the fact is allowed. It is that of the first trial that is not recorded
 * already: a tow on hold with a part payment waits for the hold, because its final payment can still come.
 */
export function refusalOfTrials<C>(rule: TriedRule<C>, tow: Tow, context: FactContext): Refusal | null {
  const { role } = rule;
  if (!roleAllows(context.role, role)) return forbidden(`Only ${role} or above may do this.`).refusal;
  let first: Refusal | null = null;
  for (const command of rule.trials(context)) {
    const decision = rule.record(tow, command, context);
    // A person can correct a field that fails its rule, so the fact itself is allowed.
    if (decision.ok || decision.refusal.kind === 'invalid') return null;
    if (first === null || first.code === 'already_recorded') first = decision.refusal;
  }
  return first;
}
