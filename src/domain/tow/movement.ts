import { invoiceMayExist, paymentIsMissing } from './billing';
import { blockedByHold } from './dispatch-rules';
import { bodyText, entered, withFact, type Advance, type FactCommand, type FactContext } from './fact-command';
import { occurredAt } from '../timestamp';
import { owedReport } from './report-bodies';
import { conflict, forbidden, invalid, type FieldRule } from '../refusal';
import {
  mayBecome,
  previousTimestamp,
  WHEREABOUTS_FIELDS,
  whereabouts,
  whereaboutsBy,
  type Fact,
  type Partially,
  type Tow,
  type TransitionEvent,
  type Whereabouts,
} from './tow';
import { roleAllows, type JsonObject } from '../vocabulary';

/** The vehicle is hooked up. Needs plate and place: entered now, or known from the violation. */
export function start(tow: Tow, command: FactCommand<'started'>, context: FactContext): Advance {
  if (!mayBecome(tow, 'started')) return refusedTransition(tow, 'started');
  const entries = new Map<string, unknown>(Object.entries(command));
  const known = whereaboutsBy(({ key, clean }) => {
    const given = entries.get(key);
    return (typeof given === 'string' ? entered(clean(given)) : given) ?? tow[key];
  });
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  const { data: located } = whereabouts.safeParse(known);
  if (!located) return invalid([...missingWhereabouts(known), ...(when.ok ? [] : when.refusal.details)]);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'started', when.timestamp, context), ...located, state: 'started' },
    owed: owedReport(tow, 'started', { ...located, occurredAt: when.timestamp }),
    withdraw: [],
  };
}

/** The vehicle is in the yard. */
export function detain(tow: Tow, command: FactCommand<'detained'>, context: FactContext): Advance {
  if (!mayBecome(tow, 'detained')) return refusedTransition(tow, 'detained');
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'detained', when.timestamp, context), state: 'detained' },
    owed: owedReport(tow, 'detained', {}),
    withdraw: [],
  };
}

/** The vehicle is handed back, from the yard or on the spot. Refused while a hold is open or a payment is missing. */
export function release(tow: Tow, command: FactCommand<'released'>, context: FactContext): Advance {
  if (!mayBecome(tow, 'released')) return refusedTransition(tow, 'released');
  const blocked = blockedByHold(tow);
  if (blocked) return blocked;
  if (paymentIsMissing(tow, context)) {
    return conflict('payment_required', 'Record the payment before the release.');
  }
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'released', when.timestamp, context), state: 'released' },
    owed: owedReport(tow, 'released', {}),
    withdraw: [],
  };
}

/**
 * The tow is called off; open holds do not prevent it. Pending reports of its invoice and payment are withdrawn if none of
 * their attempts may have taken effect; others stay owed.
 */
export function cancel(tow: Tow, command: FactCommand<'canceled'>, context: FactContext): Advance {
  if (!mayBecome(tow, 'canceled')) return refusedTransition(tow, 'canceled');
  const reason = entered(command.cancellationReason);
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  // The type allows a missing or empty text, which only the contract of the API refuses.
  if (reason === undefined) {
    const missing = { field: 'cancellation_reason', rule: 'must not be empty' };
    return invalid([missing, ...(when.ok ? [] : when.refusal.details)]);
  }
  const isOps = roleAllows(context.role, 'ops');
  if (tow.state === 'detained' && !isOps) return forbidden('Only ops may cancel a detained tow.');
  if (invoiceMayExist(tow, context.reports) && !(isOps && entered(command.reason) !== undefined)) {
    return conflict('invoice_exists', 'The tow has an invoice; only ops may cancel it, with a reason.');
  }
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'canceled', when.timestamp, context), state: 'canceled', cancellationReason: reason },
    owed: owedReport(tow, 'canceled', { cancellationReason: reason }),
    withdraw: context.reports
      .filter(({ kind, state }) => (kind === 'invoice' || kind === 'payment') && state === 'pending')
      // A report whose attempts surely had no effect counts as never attempted.
      .filter(({ attemptId, possibleEffects }) => attemptId === null && possibleEffects === 0)
      .map(({ id }) => id),
  };
}

/** The tow after its started report got a corrected body. */
export function correctStart(tow: Tow, body: JsonObject): Tow {
  const timestamp = bodyText(body, 'status_update_time');
  return {
    ...tow,
    ...whereabouts.parse(whereaboutsBy(({ name }) => body[name])),
    facts: tow.facts.map((fact) => (fact.event === 'started' ? correctedFact(fact, timestamp) : fact)),
  };
}

/** When the fact was recorded stays on the timeline as an event; see `keepRecordings`. */
function correctedFact(recorded: Fact, occurredAt: string): Fact {
  const { notedAtMs: _, ...fact } = recorded;
  return { ...fact, occurredAt };
}

/** The tow after its canceled report got a corrected body. */
export function correctCancel(tow: Tow, body: JsonObject): Tow {
  return tow.state === 'canceled' ? { ...tow, cancellationReason: bodyText(body, 'cancellation_reason') } : tow;
}

function refusedTransition(tow: Tow, event: TransitionEvent) {
  if (tow.facts.some((fact) => fact.event === event)) {
    return conflict('already_recorded', `The tow was already reported as ${event}.`);
  }
  return conflict('transition_not_allowed', `A tow that is ${tow.state} cannot become ${event}.`);
}

function missingWhereabouts(known: Partially<Whereabouts>): FieldRule[] {
  return WHEREABOUTS_FIELDS.filter(({ key, isRequired }) => isRequired && known[key] === null).map(({ name }) => ({
    field: name,
    rule: 'is required: the violation of this tow does not give it',
  }));
}
