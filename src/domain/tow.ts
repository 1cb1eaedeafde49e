import type { Dispatch } from './dispatch';
import type { FactEvent, JsonObject, TowingReference, TowState, ViolationReference, ViolationType } from './vocabulary';

/**
 * A tow as the operator knows it, a union by state.
 *
 * - requested: entered when the service's tow request is processed; plate and place may be unknown yet.
 * - started: the vehicle is hooked up; plate and place are known. Left by detained, canceled, or released on the spot.
 * - detained: the vehicle is in the yard. Left by released, or by canceled (role ops).
 * - released, canceled: terminal.
 *
 * Only `advance` (facts.ts) moves a tow from one state to another.
 */
export type Tow =
  | (TowBase & { readonly state: 'requested' } & Partially<Whereabouts>)
  | (TowBase & { readonly state: 'started' } & Whereabouts)
  | (TowBase & { readonly state: 'detained' } & Whereabouts)
  | (TowBase & { readonly state: 'released' } & Whereabouts)
  | (TowBase & { readonly state: 'canceled'; readonly cancellationReason: string } & Partially<Whereabouts>);

/** The vehicle, and the place it was taken from. */
export interface Whereabouts {
  readonly plateNumber: string;
  readonly towedLocation: string;
  readonly latitude: number;
  readonly longitude: number;
}

export type Partially<T> = { readonly [K in keyof T]: T[K] | null };

interface TowBase {
  readonly towingReferenceId: TowingReference;
  readonly violationReferenceId: ViolationReference;
  /** The operator's own data, echoed by the service; `id` is a string when present. */
  readonly metadata: JsonObject | null;
  /** When the delivery that made this tow was received, ISO 8601 UTC. */
  readonly requestedAt: string;
  readonly facts: readonly Fact[];
  readonly invoiceRequest: InvoiceRequest | null;
  readonly payments: readonly Payment[];
  /** The newest invoice webhooks, oldest first; older ones are kept as deliveries only. */
  readonly invoiceWebhooks: readonly InvoiceWebhook[];
  /** The newest later tow requests with another violation or metadata. The first request counts. */
  readonly rivalRequests: readonly RivalRequest[];
  /** The operator's own violation that led to this tow; null if none is known. */
  readonly violationId: string | null;
  /** Of the violation. */
  readonly zoneId: string | null;
  readonly violationType: ViolationType | null;
  /** The operator's own records: crew, steps, yard, holds, notes, photos. They are never sent. */
  readonly dispatch: Dispatch;
}

/** What happened, when it happened, and when and by which API key (`by`, its name) it was recorded. */
export interface Fact {
  readonly event: FactEvent;
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly by: string;
  /** When it was noted, Redis time, ms. Absent if the timeline has an event for it. */
  readonly notedAtMs?: number;
}

/** The invoice request of a tow. `delayInDays` stays as it was at the request, even if the call leaves days later. */
export interface InvoiceRequest {
  readonly vehicleType: string;
  readonly delayInDays: number;
  /** The number from the calendar; it differs if a person entered another one. */
  readonly computedDelayInDays: number;
  readonly overrideReason: string | null;
}

export interface Payment {
  readonly paymentStatus: string;
  readonly externalReference: string | null;
}

/** The charges of one invoice webhook, as received. */
export interface InvoiceWebhook {
  readonly deliveryId: string;
  readonly receivedAt: string;
  /** When the sender signed it. Absent without a verified signature. */
  readonly signedAt?: string;
  readonly towingInvoice: JsonObject;
  readonly delayInvoice: JsonObject | null;
}

interface RivalRequest {
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly violationReferenceId: ViolationReference;
  readonly metadata: JsonObject | null;
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
