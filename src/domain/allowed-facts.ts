import { advance } from './advance';
import { FACT_ROLES, type FactCommand, type FactContext } from './fact-command';
import { delayOf, type Delay } from './invoice';
import { forbidden, type Refusal } from './refusal';
import { previousMoment, type Partially, type Tow, type Whereabouts } from './tow';
import { FACT_EVENTS, roleAllows, type FactEvent } from './vocabulary';

/**
 * What people may say of a tow now, and what a form of it needs. Nothing here knows a rule of its own: each fact is tried
 * on `advance` with everything filled in that a person could fill in, and what is refused all the same is not allowed.
 */

/** What a form needs to know; moments are ISO 8601. */
export type FactForm =
  | {
      readonly event: 'started';
      readonly notBefore: string | null;
      /** What the tow knows already, from its violation: it may be left out. */
      readonly known: Partially<Whereabouts>;
      /** What must be entered. */
      readonly missing: readonly (keyof Whereabouts)[];
    }
  | { readonly event: 'detained' | 'released'; readonly notBefore: string | null }
  | {
      readonly event: 'canceled';
      readonly notBefore: string | null;
      /** True when a reason must be given beside the cancellation reason: there is an invoice. */
      readonly needsReason: boolean;
    }
  | { readonly event: 'invoice'; readonly vehicleTypes: readonly string[]; readonly delay: Delay }
  | { readonly event: 'payment'; readonly notBefore: string | null; readonly paymentStatuses: readonly string[] };

/** `notBefore` of a form: the latest fact, before which a new one must not lie; null when there is none. */
export type AllowedFact =
  | (FactForm & { readonly allowed: true })
  | { readonly event: FactEvent; readonly allowed: false; readonly refusal: Refusal };

/** Every fact in the order of FACT_EVENTS, for the role of the context: allowed with its form, or refused with the rule. */
export function allowedFacts(tow: Tow, context: FactContext): AllowedFact[] {
  return FACT_EVENTS.map((event) => allowedFact(event, tow, context));
}

/** One of them. */
export function allowedFact(event: FactEvent, tow: Tow, context: FactContext): AllowedFact {
  const refusal = refusalOf(event, tow, context);
  return refusal === null ? { ...formOf(event, tow, context), allowed: true } : { event, allowed: false, refusal };
}

function refusalOf(event: FactEvent, tow: Tow, context: FactContext): Refusal | null {
  const needed = FACT_ROLES[event];
  if (!roleAllows(context.role, needed)) return forbidden(`Only ${needed} or above may do this.`).refusal;
  let first: Refusal | null = null;
  for (const command of trials(event, context)) {
    const decision = advance(tow, command, context);
    // A field that fails its rule is for the person to put right: the fact itself is allowed.
    if (decision.ok || decision.refusal.kind === 'invalid') return null;
    first ??= decision.refusal;
  }
  return first;
}

/** Commands with all that a person could fill in; of a payment one for each status it could have. */
function trials(event: FactEvent, { rules }: FactContext): FactCommand[] {
  const anything = 'x';
  switch (event) {
    case 'started':
      return [{ event, plateNumber: anything, towedLocation: anything, latitude: 0, longitude: 0 }];
    case 'detained':
    case 'released':
      return [{ event }];
    case 'canceled':
      return [{ event, cancellationReason: anything, reason: anything }];
    case 'invoice':
      return [{ event, vehicleType: rules.vehicleTypes[0] ?? anything }];
    case 'payment':
      return rules.paymentStatuses.map((paymentStatus) => ({ event, paymentStatus }));
  }
}

function formOf(event: FactEvent, tow: Tow, context: FactContext): FactForm {
  const { rules, nowMs } = context;
  const notBefore = previousMoment(tow);
  switch (event) {
    case 'started': {
      const { plateNumber, towedLocation, latitude, longitude } = tow;
      const known = { plateNumber, towedLocation, latitude, longitude };
      const fields = ['plateNumber', 'towedLocation', 'latitude', 'longitude'] as const;
      return { event, notBefore, known, missing: fields.filter((field) => known[field] === null) };
    }
    case 'detained':
    case 'released':
      return { event, notBefore };
    case 'canceled':
      return { event, notBefore, needsReason: !advance(tow, { event, cancellationReason: 'x' }, context).ok };
    case 'invoice':
      return { event, vehicleTypes: rules.vehicleTypes, delay: delayOf(tow, nowMs, rules.freeDays) };
    case 'payment': {
      const isPossible = (paymentStatus: string) => advance(tow, { event, paymentStatus }, context).ok;
      return { event, notBefore, paymentStatuses: rules.paymentStatuses.filter(isPossible) };
    }
  }
}
