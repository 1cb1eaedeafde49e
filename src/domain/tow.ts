import type { Dispatch } from './dispatch';
import type { FactEvent, JsonObject, TowingReference, TowState, ViolationReference, ViolationType } from './vocabulary';

/**
 * A tow as the operator knows it, a union by state.
 *
 * - requested: entered when the service's tow request is processed; plate and place may be unknown yet.
 * - started: the vehicle is hooked up; plate and place are known. Left by detained, canceled, or released on the spot.
 * - detained: the vehicle stands in the yard. Left by released, or by canceled (role ops).
 * - released, canceled: terminal.
 *
 * Only `advance` (advance.ts) moves a tow from one state to another.
 */
export type Tow =
  | (TowBase & { readonly state: 'requested' } & Partially<Whereabouts>)
  | (TowBase & { readonly state: 'started' } & Whereabouts)
  | (TowBase & { readonly state: 'detained' } & Whereabouts)
  | (TowBase & { readonly state: 'released' } & Whereabouts)
  | (TowBase & { readonly state: 'canceled'; readonly cancellationReason: string } & Partially<Whereabouts>);

/** Which vehicle, and the place it was taken from. */
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
  /** The newest of the later tow requests that named another violation or metadata; the first request wins. */
  readonly rivalRequests: readonly RivalRequest[];
  /** Our own violation that this tow comes from; null when none is known. */
  readonly violationId: string | null;
  /** Of the violation. */
  readonly zoneId: string | null;
  readonly violationType: ViolationType | null;
  /** What the operator keeps for itself: crew, steps, yard, holds, notes, photos. Nothing of it is told to the service. */
  readonly dispatch: Dispatch;
}

/** What happened, when it happened, when we were told, and by whom (the name of an API key). */
export interface Fact {
  readonly event: FactEvent;
  readonly occurredAt: string;
  readonly recordedAt: string;
  readonly by: string;
}

/** The one invoice request of a tow. `delayInDays` is frozen here even if the call leaves days later. */
export interface InvoiceRequest {
  readonly vehicleType: string;
  readonly delayInDays: number;
  /** What the calendar gave when a person gave another number. */
  readonly computedDelayInDays: number;
  readonly overrideReason: string | null;
}

export interface Payment {
  readonly paymentStatus: string;
  readonly externalReference: string | null;
}

/** The charges of one invoice webhook, exactly as received. */
export interface InvoiceWebhook {
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly towingInvoice: JsonObject;
  readonly delayInvoice: JsonObject | null;
}

export interface RivalRequest {
  readonly deliveryId: string;
  readonly receivedAt: string;
  readonly violationReferenceId: ViolationReference;
  readonly metadata: JsonObject | null;
}

/** The events that move a tow; invoice and payment leave its state as it is. */
export type TransitionEvent = Extract<FactEvent, TowState>;

/**
 * Which events each state allows, and the state each leads to.
 * Open question Q1: the service does not say which prior state a status update requires; this table is ours.
 */
export const TRANSITIONS = {
  requested: ['started', 'canceled'],
  started: ['detained', 'canceled', 'released'],
  detained: ['released', 'canceled'],
  released: [],
  canceled: [],
} as const satisfies Record<TowState, readonly TransitionEvent[]>;

/** True when the table has a way from `from` by `event`. */
export function transitionAllowed(from: TowState, event: TransitionEvent): boolean {
  const allowed: readonly TransitionEvent[] = TRANSITIONS[from];
  return allowed.includes(event);
}

/** True for states that no event leaves. */
export function isTerminal(state: TowState): boolean {
  return TRANSITIONS[state].length === 0;
}

/** The moment of the latest state or payment fact: what a new fact must not lie before. An invoice request is not one. */
export function previousMoment(tow: Tow): string | null {
  return tow.facts.findLast((fact) => fact.event !== 'invoice')?.occurredAt ?? null;
}
