import { invoiceMayExist, paymentIsMissing } from './billing';
import { blockedByHold } from './dispatch-rules';
import { entered, withFact, type Advance, type Command, type FactContext } from './fact-command';
import { occurredAt } from './moment';
import { canceledReport, startedReport, statusReport } from './outbox';
import { conflict, forbidden, invalid, type FieldRule } from './refusal';
import {
  previousMoment,
  transitionAllowed,
  type Partially,
  type Tow,
  type TransitionEvent,
  type Whereabouts,
} from './tow';
import { roleAllows } from './vocabulary';

/** The facts of the field: what moves a tow from one state to another. */

/** The vehicle is hooked up. Needs plate and place, given now or known from the violation. */
export function start(tow: Tow, command: Command<'started'>, context: FactContext): Advance {
  const barred = transition(tow, 'started');
  if (barred) return barred;
  const known: Partially<Whereabouts> = {
    plateNumber: entered(command.plateNumber) ?? tow.plateNumber,
    towedLocation: entered(command.towedLocation) ?? tow.towedLocation,
    latitude: command.latitude ?? tow.latitude,
    longitude: command.longitude ?? tow.longitude,
  };
  const { plateNumber, towedLocation, latitude, longitude } = known;
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (plateNumber === null || towedLocation === null || latitude === null || longitude === null) {
    return invalid([...missingWhereabouts(known), ...(when.ok ? [] : when.refusal.details)]);
  }
  if (!when.ok) return when;
  const whereabouts: Whereabouts = { plateNumber, towedLocation, latitude, longitude };
  return {
    ok: true,
    tow: { ...withFact(tow, 'started', when.moment, context), ...whereabouts, state: 'started' },
    owed: startedReport(tow, whereabouts, when.moment),
    withdraw: [],
  };
}

/** The vehicle stands in the yard. */
export function detain(tow: Tow, command: Command<'detained'>, context: FactContext): Advance {
  const barred = transition(tow, 'detained');
  if (barred) return barred;
  const place = knownWhereabouts(tow);
  if (!place) return conflict('transition_not_allowed', 'The tow has no plate and place yet.');
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'detained', when.moment, context), ...place, state: 'detained' },
    owed: statusReport(tow, 'detained'),
    withdraw: [],
  };
}

/** The vehicle is handed back, from the yard or on the spot, unless a hold is open. */
export function release(tow: Tow, command: Command<'released'>, context: FactContext): Advance {
  const barred = transition(tow, 'released');
  if (barred) return barred;
  const place = knownWhereabouts(tow);
  if (!place) return conflict('transition_not_allowed', 'The tow has no plate and place yet.');
  const blocked = blockedByHold(tow);
  if (blocked) return blocked;
  if (paymentIsMissing(tow, context)) {
    return conflict('payment_required', 'Record the payment before the release.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'released', when.moment, context), ...place, state: 'released' },
    owed: statusReport(tow, 'released'),
    withdraw: [],
  };
}

/** The tow is called off, holds or not; what was never sent of its invoice is withdrawn. */
export function cancel(tow: Tow, command: Command<'canceled'>, context: FactContext): Advance {
  const barred = transition(tow, 'canceled');
  if (barred) return barred;
  const reason = entered(command.cancellationReason);
  if (reason === undefined) return invalid([{ field: 'cancellation_reason', rule: 'must not be empty' }]);
  const isOps = roleAllows(context.role, 'ops');
  if (tow.state === 'detained' && !isOps) return forbidden('Only ops may cancel a detained tow.');
  if (invoiceMayExist(tow, context.reports) && !(isOps && entered(command.reason) !== undefined)) {
    return conflict('invoice_exists', 'The tow has an invoice; only ops may cancel it, with a reason.');
  }
  const when = occurredAt(command.occurredAt, previousMoment(tow), context.nowMs);
  if (!when.ok) return when;
  return {
    ok: true,
    tow: { ...withFact(tow, 'canceled', when.moment, context), state: 'canceled', cancellationReason: reason },
    owed: canceledReport(tow, reason),
    withdraw: context.reports
      .filter(({ kind, state }) => (kind === 'invoice' || kind === 'payment') && state === 'pending')
      // One that surely never reached the service is as good as never attempted.
      .filter(({ inFlight, mayHaveHadEffect }) => !inFlight && !mayHaveHadEffect)
      .map(({ id }) => id),
  };
}

function transition(tow: Tow, event: TransitionEvent) {
  if (transitionAllowed(tow.state, event)) return null;
  if (tow.facts.some((fact) => fact.event === event)) {
    return conflict('already_recorded', `The tow was already reported as ${event}.`);
  }
  return conflict('transition_not_allowed', `A tow that is ${tow.state} cannot become ${event}.`);
}

function knownWhereabouts(tow: Tow): Whereabouts | null {
  const { plateNumber, towedLocation, latitude, longitude } = tow;
  if (plateNumber === null || towedLocation === null || latitude === null || longitude === null) return null;
  return { plateNumber, towedLocation, latitude, longitude };
}

function missingWhereabouts(known: Partially<Whereabouts>): FieldRule[] {
  const wireNames = [
    ['plate_number', known.plateNumber],
    ['towed_location', known.towedLocation],
    ['latitude', known.latitude],
    ['longitude', known.longitude],
  ] as const;
  return wireNames
    .filter(([, value]) => value === null)
    .map(([field]) => ({ field, rule: 'is required: the violation of this tow does not give it' }));
}
