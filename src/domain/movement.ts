import { invoiceMayExist, paymentIsMissing } from './billing';
import { blockedByHold } from './dispatch-rules';
import { visibleText } from './entered-text';
import { bodyText, entered, withFact, type Advance, type FactCommand, type FactContext } from './fact-command';
import { occurredAt } from './timestamp';
import { canceledReport, startedReport, statusReport } from './report-bodies';
import { conflict, forbidden, invalid, type FieldRule } from './refusal';
import {
  mayBecome,
  previousTimestamp,
  type Fact,
  type Partially,
  type Tow,
  type TransitionEvent,
  type Whereabouts,
} from './tow';
import { roleAllows, type JsonObject } from './vocabulary';

/** The vehicle is hooked up. Needs plate and place: entered now, or known from the violation. */
export function start(tow: Tow, command: FactCommand<'started'>, context: FactContext): Advance {
  if (!mayBecome(tow, 'started')) return refusedTransition(tow, 'started');
  const known: Partially<Whereabouts> = {
    plateNumber: entered(visibleText(command.plateNumber ?? '')) ?? tow.plateNumber,
    towedLocation: entered(command.towedLocation) ?? tow.towedLocation,
    latitude: command.latitude ?? tow.latitude,
    longitude: command.longitude ?? tow.longitude,
  };
  const { plateNumber, towedLocation, latitude, longitude } = known;
  const when = occurredAt(command.occurredAt, previousTimestamp(tow), context.clockMs);
  if (plateNumber === null || towedLocation === null || latitude === null || longitude === null) {
    return invalid([...missingWhereabouts(known), ...(when.ok ? [] : when.refusal.details)]);
  }
  if (!when.ok) return when;
  const whereabouts: Whereabouts = { plateNumber, towedLocation, latitude, longitude };
  return {
    ok: true,
    tow: { ...withFact(tow, 'started', when.timestamp, context), ...whereabouts, state: 'started' },
    owed: startedReport(tow, whereabouts, when.timestamp),
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
    owed: statusReport(tow, 'detained'),
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
    owed: statusReport(tow, 'released'),
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
    owed: canceledReport(tow, reason),
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
    plateNumber: bodyText(body, 'plate_number'),
    towedLocation: bodyText(body, 'towed_location'),
    latitude: Number(body['latitude']),
    longitude: Number(body['longitude']),
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
