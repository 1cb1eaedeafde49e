import { z } from 'zod';
import type { Delivery } from '../domain/delivery';
import { TASK_ACTIONS } from '../domain/tasks';
import type { Tow } from '../domain/tow';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  FACT_EVENTS,
  PAUSABLE_OPERATIONS,
  VIOLATION_TYPES,
  type JsonObject,
  type ReportKind,
  type ReportState,
} from '../domain/vocabulary';
import { towingReference, violationReference } from './common';
import { dispatchRecord } from './dispatch';
import { counter, momentMs, storedObject } from './stored';
import { sensitive } from './sensitive';

/**
 * What Redis holds, one schema per record, parsed at every read. A tow keeps the fields that this version does not know, at
 * every depth: another version wrote them and needs them.
 */

const whereabouts = {
  plateNumber: sensitive(z.string()),
  towedLocation: z.string(),
  latitude: z.number(),
  longitude: z.number(),
};
const perhapsWhereabouts = {
  plateNumber: sensitive(z.string().nullable()),
  towedLocation: z.string().nullable(),
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
};

const towBase = {
  towingReferenceId: towingReference,
  violationReferenceId: violationReference,
  metadata: storedObject.nullable(),
  requestedAt: z.string(),
  facts: z.array(
    z.looseObject({ event: z.enum(FACT_EVENTS), occurredAt: z.string(), recordedAt: z.string(), by: z.string() }),
  ),
  invoiceRequest: z
    .looseObject({
      vehicleType: z.string(),
      delayInDays: z.number(),
      computedDelayInDays: z.number(),
      overrideReason: z.string().nullable(),
    })
    .nullable(),
  payments: z.array(z.looseObject({ paymentStatus: z.string(), externalReference: z.string().nullable() })),
  invoiceWebhooks: z.array(
    z.looseObject({
      deliveryId: z.string(),
      receivedAt: z.string(),
      towingInvoice: storedObject,
      delayInvoice: storedObject.nullable(),
    }),
  ),
  rivalRequests: z.array(
    z.looseObject({
      deliveryId: z.string(),
      receivedAt: z.string(),
      violationReferenceId: violationReference,
      metadata: storedObject.nullable(),
    }),
  ),
  // Absent in records of versions that did not keep them.
  violationId: z.string().nullable().default(null),
  zoneId: z.string().nullable().default(null),
  violationType: z.enum(VIOLATION_TYPES).nullable().default(null),
  dispatch: dispatchRecord,
};

/** The tow itself; its reports, timeline and tasks are kept beside it. */
export const towDocument: z.ZodType<Tow> = z.discriminatedUnion('state', [
  z.looseObject({ ...towBase, ...perhapsWhereabouts, state: z.literal('requested') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('started') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('detained') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('released') }),
  z.looseObject({ ...towBase, ...perhapsWhereabouts, state: z.literal('canceled'), cancellationReason: z.string() }),
]);

export const reportError = z.object({ http_status: z.number().nullable().default(null), message: z.string() });
export type ReportError = z.infer<typeof reportError>;

/** One try to send a report, as kept on it. */
export const attempt = z.object({
  attempt_id: z.string(),
  started_at: z.string().optional(),
  ended_at_ms: z.number().optional(),
  duration_ms: z.number().optional(),
  outcome: z.string(),
  http_status: z.number().nullable().optional(),
  message: z.string().nullable().optional(),
});
export type Attempt = z.infer<typeof attempt>;

/** An entry of a tow's outbox, as use cases read it. */
export interface Report {
  /** Its place in the outbox, from 1. */
  readonly seq: number;
  readonly id: string;
  readonly kind: ReportKind;
  readonly state: ReportState;
  readonly body: JsonObject;
  readonly revision: number;
  readonly attempts: number;
  readonly inFlight: boolean;
  readonly waitsFor: string | null;
  readonly firstFailedAtMs: number | null;
  readonly giveUpAtMs: number | null;
  readonly failures: number;
  readonly mayHaveHadEffect: boolean;
  readonly createdAtMs: number;
  readonly nextAttemptAtMs: number | null;
  readonly deliveredAtMs: number | null;
  readonly lastError: ReportError | null;
  readonly hint: string | null;
  readonly reason: string | null;
  readonly answer: JsonObject | null;
  /** The body of an answer that broke the contract. */
  readonly brokenAnswer: string | null;
  readonly log: readonly Attempt[];
}

/** Something a person must decide. */
export const task = z.object({
  id: z.string(),
  type: z.string(),
  message: z.string(),
  actions: z.array(z.enum(TASK_ACTIONS)),
  towing_reference_id: z.string().optional(),
  report_id: z.string().optional(),
  violation_id: z.string().optional(),
  operation: z.enum(PAUSABLE_OPERATIONS).optional(),
  http_status: z.number().nullable().optional(),
  hint: z.string().nullable().optional(),
  /** When it was opened, Redis time. */
  opened_at: z.string().optional(),
});
export type Task = z.infer<typeof task>;

/** What happened to a tow. */
export interface TimelineEntry {
  /** Redis time. */
  readonly atMs: number;
  readonly type: string;
  readonly [name: string]: unknown;
}

/** Everything about one tow, read at one instant. */
export interface TowRecord {
  readonly tow: Tow;
  /** Raised by every write; a decision made on an older version is refused. */
  readonly version: number;
  readonly reports: readonly Report[];
  readonly timeline: readonly TimelineEntry[];
  readonly tasks: readonly Task[];
  /** Redis time of the reading. */
  readonly readAtMs: number;
}

/** One webhook call received. */
export const deliveryRecord: z.ZodType<Delivery> = z
  .object({
    v: z.string().default(''),
    id: z.string(),
    kind: z.enum(DELIVERY_KINDS),
    towing_reference_id: z.string(),
    raw_body: z.string(),
    verified: z.enum(['verified', 'unverified']).default('unverified'),
    signature_id: z.string().default(''),
    state: z.enum(DELIVERY_STATES),
    verdict: z.string().default(''),
    received_at: counter,
    processed_at: momentMs,
    parked_at: momentMs,
    copies: counter.default(1),
    failures: counter.default(0),
    replays: counter.default(0),
  })
  .transform((stored) => ({
    id: stored.id,
    version: stored.v,
    kind: stored.kind,
    towingReferenceId: stored.towing_reference_id,
    rawBody: stored.raw_body,
    verified: stored.verified === 'verified',
    signatureId: stored.signature_id === '' ? null : stored.signature_id,
    state: stored.state,
    verdict: stored.verdict === '' ? null : stored.verdict,
    receivedAtMs: stored.received_at,
    processedAtMs: stored.processed_at,
    parkedAtMs: stored.parked_at,
    copies: stored.copies,
    failures: stored.failures,
    replays: stored.replays,
  }));
export type { Delivery } from '../domain/delivery';

/** A webhook call that broke the contract: kept for people, never processed. */
export const quarantined = z.object({
  id: z.string(),
  path: z.string(),
  received_at: z.string(),
  details: z.array(z.object({ field: z.string(), rule: z.string() })),
  raw_body: z.string(),
});
export type Quarantined = z.infer<typeof quarantined>;

/** What the store publishes when something changes. */
export const storeEvent = z.object({
  type: z.string(),
  towing_reference_id: z.string().nullish(),
  violation_id: z.string().nullish(),
  at_ms: z.number(),
});
export type StoreEvent = z.infer<typeof storeEvent>;
