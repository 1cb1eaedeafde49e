import { z } from 'zod';
import { storedDispatch } from './dispatch';
import { keptFields, keptShape, nullableShape, shownShape } from './fact-fields';
import { storedList, storedObject, storedRecord, towingReference, violationReference } from '../stored';
import { FACT_EVENTS, VIOLATION_TYPES, type FactEvent, type TowState } from '../vocabulary';

/** The vehicle, and the place it was taken from. */
export const whereabouts = z.object(keptShape('started'));
export type Whereabouts = Readonly<z.output<typeof whereabouts>>;
const nullableWhereabouts = z.object(nullableShape(whereabouts.shape));
/** The same under the names of the API. */
export const whereaboutsView = z.object(shownShape('started'));
export const WHEREABOUTS_FIELDS = keptFields('started');
export type Partially<T> = { readonly [K in keyof T]: T[K] | null };

/** What happened, when it happened, and when and by which API key (`by`, its name) it was recorded. */
const fact = storedRecord({
  event: z.enum(FACT_EVENTS),
  occurredAt: z.string(),
  recordedAt: z.string(),
  by: z.string(),
  /** When it was noted, Redis time, ms. Absent if the timeline has an event for it. */
  notedAtMs: z.number().exactOptional(),
});
export type Fact = Readonly<z.output<typeof fact>>;

/** The invoice request of a tow. `delayInDays` stays as it was at the request, even if the call leaves days later. */
const invoiceRequest = storedRecord({
  vehicleType: z.string(),
  delayInDays: z.number(),
  /** The number from the calendar; it differs if a person entered another one. */
  computedDelayInDays: z.number(),
  overrideReason: z.string().nullable(),
});
export type InvoiceRequest = Readonly<z.output<typeof invoiceRequest>>;

const payment = storedRecord({ paymentStatus: z.string(), externalReference: z.string().nullable() });
export type Payment = Readonly<z.output<typeof payment>>;

/** The charges of one invoice webhook, as received. */
const invoiceWebhook = storedRecord({
  deliveryId: z.string(),
  receivedAt: z.string(),
  /** When the sender signed it. Absent without a verified signature. */
  signedAt: z.string().exactOptional(),
  towingInvoice: storedObject,
  delayInvoice: storedObject.nullable(),
});
export type InvoiceWebhook = Readonly<z.output<typeof invoiceWebhook>>;

const rivalRequest = storedRecord({
  deliveryId: z.string(),
  receivedAt: z.string(),
  violationReferenceId: violationReference,
  metadata: storedObject.nullable(),
});

const common = {
  towingReferenceId: towingReference,
  violationReferenceId: violationReference,
  /** The operator's own data, echoed by the service; `id` is a string when present. */
  metadata: storedObject.nullable(),
  /** When the delivery that made this tow was received, ISO 8601 UTC. */
  requestedAt: z.string(),
  facts: storedList(fact),
  invoiceRequest: invoiceRequest.nullable(),
  payments: storedList(payment),
  /** The newest invoice webhooks, oldest first; older ones are kept as deliveries only. */
  invoiceWebhooks: storedList(invoiceWebhook),
  /** The newest later tow requests with another violation or metadata. The first request counts. */
  rivalRequests: storedList(rivalRequest),
  /** The operator's own violation that led to this tow; null if none is known. */
  violationId: z.string().nullable(),
  /** Of the violation. */
  zoneId: z.string().nullable(),
  violationType: z.enum(VIOLATION_TYPES).nullable(),
  /** The operator's own records: crew, steps, yard, holds, notes, photos. They are never sent. */
  dispatch: storedDispatch,
};
const located = { ...common, ...whereabouts.shape };
const perhapsLocated = { ...common, ...nullableWhereabouts.shape };

/**
 * A tow as the operator knows it, a union by state. Its reports, timeline and tasks are stored beside it.
 *
 * - requested: entered when the service's tow request is processed; plate and place may be unknown yet.
 * - started: the vehicle is hooked up; plate and place are known. Left by detained, canceled, or released on the spot.
 * - detained: the vehicle is in the yard. Left by released, or by canceled (role ops).
 * - released, canceled: terminal.
 *
 * Only `advance` (facts.ts) moves a tow from one state to another.
 */
export const towDocument = z.discriminatedUnion('state', [
  storedRecord({ ...perhapsLocated, state: z.literal('requested') }),
  storedRecord({ ...located, state: z.literal('started') }),
  storedRecord({ ...located, state: z.literal('detained') }),
  storedRecord({ ...located, state: z.literal('released') }),
  storedRecord({ ...perhapsLocated, state: z.literal('canceled'), cancellationReason: z.string() }),
]);
export type Tow = Readonly<z.output<typeof towDocument>>;

/** The fields of a tow that never change, which are stored apart. */
export const towMeta = z.object({
  violationReferenceId: z.string(),
  metadata: storedObject.nullable(),
  requestedAt: z.string(),
  requestedAtMs: z.number(),
});

/** What is known of the vehicle and its place; `valueOf` returns undefined for what it does not know. */
export function whereaboutsBy(
  valueOf: (field: (typeof WHEREABOUTS_FIELDS)[number]) => unknown,
): Partially<Whereabouts> {
  return nullableWhereabouts.parse(
    Object.fromEntries(WHEREABOUTS_FIELDS.map((field) => [field.key, valueOf(field) ?? null])),
  );
}

export function whereaboutsViewOf(tow: Tow): z.output<typeof whereaboutsView> {
  return whereaboutsView.parse(Object.fromEntries(WHEREABOUTS_FIELDS.map(({ name, key }) => [name, tow[key]])));
}

/** The facts that change the state of a tow; invoice and payment do not. */
export type TransitionEvent = Extract<FactEvent, TowState>;

/**
 * The facts that each state allows. A fact leads to the state of its name.
 * Open question Q1: the service does not say which prior state a status update requires; this table is ours.
 */
export const TRANSITIONS = {
  requested: ['started', 'canceled'],
  started: ['detained', 'canceled', 'released'],
  detained: ['released', 'canceled'],
  released: [],
  canceled: [],
} as const satisfies Record<TowState, readonly TransitionEvent[]>;

/** By the table alone: the rule of the fact may refuse it for other reasons. */
export function transitionAllowed(from: TowState, event: TransitionEvent): boolean {
  const allowed: readonly TransitionEvent[] = TRANSITIONS[from];
  return allowed.includes(event);
}

/** A tow in a state that allows the fact. */
type TowBefore<E extends TransitionEvent> = Extract<Tow, { readonly state: StateBefore<E> }>;
type StateBefore<E extends TransitionEvent> = {
  [S in TowState]: E extends (typeof TRANSITIONS)[S][number] ? S : never;
}[TowState];

/** Like transitionAllowed, for a tow: of one that may be detained or released, plate and place are known. */
export function mayBecome<E extends TransitionEvent>(tow: Tow, event: E): tow is TowBefore<E> {
  return transitionAllowed(tow.state, event);
}

/** True for states that no fact leads out of. */
export function isTerminal(state: TowState): boolean {
  return TRANSITIONS[state].length === 0;
}

/** The time of the latest fact except an invoice request; a new fact must not lie before it. Null if there is none. */
export function previousTimestamp(tow: Tow): string | null {
  return tow.facts.findLast((fact) => fact.event !== 'invoice')?.occurredAt ?? null;
}
