import { z } from 'zod';
import { PROCESSED_VERDICTS, type Delivery } from '../domain/delivery';
import { TASK_ACTIONS } from '../domain/decisions';
import type { Tow } from '../domain/tow';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  ENTRY_KINDS,
  FACT_EVENTS,
  ROLES,
  VIOLATION_TYPES,
} from '../domain/vocabulary';
import { towingReference, violationReference } from './common';
import { dispatchRecord } from './dispatch';
import { person } from './person';
import { sensitive } from '../domain/sensitive';
import { counter, orUnknown, storedObject, storedTimestampMs } from '../domain/stored';

/**
 * Records in Redis, parsed at every read. A tow keeps unknown fields at every depth: another version wrote and needs
 * them.
 */

const whereabouts = {
  plateNumber: sensitive(z.string()),
  towedLocation: z.string(),
  latitude: z.number(),
  longitude: z.number(),
};
const nullableWhereabouts = {
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
    z.looseObject({
      event: z.enum(FACT_EVENTS),
      occurredAt: z.string(),
      recordedAt: z.string(),
      by: z.string(),
      notedAtMs: z.number().exactOptional(),
    }),
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
      signedAt: z.string().exactOptional(),
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
  violationId: z.string().nullable(),
  zoneId: z.string().nullable(),
  violationType: z.enum(VIOLATION_TYPES).nullable(),
  dispatch: dispatchRecord,
};

/** A tow without its reports, timeline and tasks, which are stored beside it. */
export const towDocument: z.ZodType<Tow> = z.discriminatedUnion('state', [
  z.looseObject({ ...towBase, ...nullableWhereabouts, state: z.literal('requested') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('started') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('detained') }),
  z.looseObject({ ...towBase, ...whereabouts, state: z.literal('released') }),
  z.looseObject({ ...towBase, ...nullableWhereabouts, state: z.literal('canceled'), cancellationReason: z.string() }),
]);

export const reportError = z.object({ http_status: z.number().nullable().default(null), message: z.string() });

/** A place in the waiting queue of a rate limit. */
export const placeInQueue = z.object({
  /** From 1. */
  place: z.number(),
  /** The length of the queue. */
  of: z.number(),
  /** When it is sent if all before it are sent. */
  leaves_at: z.string(),
  /** Until when the service asked to make no such call; null when it did not. */
  closed_until: z.string().nullable(),
});
export type PlaceInQueue = z.infer<typeof placeInQueue>;

export const attempt = z.object({
  attempt_id: z.string(),
  started_at: z.string().optional(),
  ended_at_ms: z.number().optional(),
  duration_ms: z.number().optional(),
  outcome: z.string(),
  http_status: z.number().nullable().optional(),
  message: z.string().nullable().optional(),
});

/** A task for people. */
export const task = z.object({
  id: z.string(),
  type: z.string(),
  message: z.string(),
  actions: z.array(z.enum(TASK_ACTIONS)),
  towing_reference_id: z.string().exactOptional(),
  report_id: z.string().exactOptional(),
  violation_id: z.string().exactOptional(),
  operation: z.enum(ENTRY_KINDS).exactOptional(),
  /** The kind of difference that it is about. */
  difference_id: z.string().exactOptional(),
  http_status: z.number().nullable().exactOptional(),
  hint: z.string().nullable().exactOptional(),
  /** When it was opened, Redis time. */
  opened_at: z.string().exactOptional(),
});
export type Task = z.infer<typeof task>;

/** A received webhook call. */
export const deliveryRecord: z.ZodType<Delivery> = z
  .object({
    v: z.string().default(''),
    id: z.string(),
    kind: z.enum(DELIVERY_KINDS),
    towing_reference_id: z.string(),
    raw_body: z.string(),
    verified: z.enum(['verified', 'unverified']).default('unverified'),
    signature_id: z.string().default(''),
    signed_at: storedTimestampMs,
    state: z.enum(DELIVERY_STATES),
    verdict: z
      .string()
      .default('')
      .pipe(z.union([z.literal('').transform(() => null), orUnknown(PROCESSED_VERDICTS)])),
    received_at: counter,
    processed_at: storedTimestampMs,
    parked_at: storedTimestampMs,
    difference_id: z.string().default(''),
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
    signedAtMs: stored.signed_at,
    state: stored.state,
    verdict: stored.verdict,
    receivedAtMs: stored.received_at,
    processedAtMs: stored.processed_at,
    parkedAtMs: stored.parked_at,
    differenceId: stored.difference_id === '' ? null : stored.difference_id,
    copies: stored.copies,
    failures: stored.failures,
    replays: stored.replays,
  }));

/** A call of the service on a path of no webhook, such as an event about tickets: kept for review, never processed. */
export const otherCall = z.object({
  id: z.string(),
  path: z.string(),
  received_at: z.string(),
  verified: z.boolean(),
  /** Characters of the body as received. */
  length: z.number(),
  /** At most the first 16,384 characters. */
  raw_body: z.string(),
});
export type OtherCall = z.infer<typeof otherCall>;

/** The types of events that the store publishes. Live pages listen for each of them (assets/scripts/stream.js). */
export const EVENT_TYPES = [
  'tow.changed',
  'tow.archived',
  'violation.changed',
  'violation.archived',
  'task.opened',
  'task.closed',
  'delivery.accepted',
  'delivery.processed',
  'delivery.parked',
  'delivery.differs',
  'judgement.changed',
  'circuit.opened',
  'circuit.closed',
  'bulk.changed',
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** A published event. Its type may be one of a later version. */
export const storeEvent = z.object({
  type: z.string(),
  towing_reference_id: z.string().nullish(),
  violation_id: z.string().nullish(),
  at_ms: z.number(),
});
export type StoreEvent = z.infer<typeof storeEvent>;

/** A stored API key, without its text. Fields of other versions are kept. */
export const apiKeyRecord = z.looseObject({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  createdAt: z.string(),
  hash: z.string(),
  /** The previous key of a rotation and the end of its grace time, Redis time; null when there is none. */
  previous: z.object({ hash: z.string(), validUntilMs: z.number() }).nullable(),
});
export type ApiKeyRecord = z.output<typeof apiKeyRecord>;

/** A stored session, of an API key or of a person. Neither its id nor the key is stored. */
export const sessionRecord = z.union([
  z.object({ keyHash: z.string(), createdAt: z.string() }),
  z.object({ person, createdAt: z.string() }),
]);
