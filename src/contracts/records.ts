import { z } from 'zod';
import { TASK_ACTIONS } from '../domain/tasks';
import type { Tow } from '../domain/tow';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  FACT_EVENTS,
  PAUSABLE_OPERATIONS,
  REPORT_KINDS,
  REPORT_STATES,
  VIOLATION_TYPES,
} from '../domain/vocabulary';
import { towingReference, violationReference } from './common';
import { dispatchRecord } from './dispatch';
import { counter, jsonText, momentMs, perhapsJson, storedObject } from './stored';
import { sensitive } from './sensitive';

/** What Redis holds, one schema per record: parsed at every read, so that nothing unknown passes for known. */

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
    z.object({ event: z.enum(FACT_EVENTS), occurredAt: z.string(), recordedAt: z.string(), by: z.string() }),
  ),
  invoiceRequest: z
    .object({
      vehicleType: z.string(),
      delayInDays: z.number(),
      computedDelayInDays: z.number(),
      overrideReason: z.string().nullable(),
    })
    .nullable(),
  payments: z.array(z.object({ paymentStatus: z.string(), externalReference: z.string().nullable() })),
  invoiceWebhooks: z.array(
    z.object({
      deliveryId: z.string(),
      receivedAt: z.string(),
      towingInvoice: storedObject,
      delayInvoice: storedObject.nullable(),
    }),
  ),
  rivalRequests: z.array(
    z.object({
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
  z.object({ ...towBase, ...perhapsWhereabouts, state: z.literal('requested') }),
  z.object({ ...towBase, ...whereabouts, state: z.literal('started') }),
  z.object({ ...towBase, ...whereabouts, state: z.literal('detained') }),
  z.object({ ...towBase, ...whereabouts, state: z.literal('released') }),
  z.object({ ...towBase, ...perhapsWhereabouts, state: z.literal('canceled'), cancellationReason: z.string() }),
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

/** An entry of a tow's outbox. */
export const reportRecord = z
  .object({
    seq: z.number(),
    id: z.string(),
    kind: z.enum(REPORT_KINDS),
    state: z.enum(REPORT_STATES),
    body: jsonText(storedObject),
    once: z.enum(['0', '1']),
    revision: counter,
    attempts: counter,
    failures: counter.default(0),
    not_found: counter.default(0),
    unanswered: counter.default(0),
    possible_effects: counter.default(0),
    created_at: counter,
    next_at: momentMs,
    delivered_at: momentMs,
    attempt_id: z.string().default(''),
    waits_for: z.string().default(''),
    first_failed_at: momentMs,
    give_up_at: momentMs,
    error: perhapsJson(reportError),
    hint: z.string().default(''),
    reason: z.string().default(''),
    answer: perhapsJson(storedObject),
    raw_body: z.string().default(''),
    log: z.union([z.literal(''), jsonText(z.array(jsonText(attempt)))]).default(''),
  })
  .transform((stored) => ({
    seq: stored.seq,
    id: stored.id,
    kind: stored.kind,
    state: stored.state,
    body: stored.body,
    revision: stored.revision,
    attempts: stored.attempts,
    inFlight: stored.attempt_id !== '',
    waitsFor: stored.waits_for === '' ? null : stored.waits_for,
    firstFailedAtMs: stored.first_failed_at,
    giveUpAtMs: stored.give_up_at,
    failures: stored.failures,
    mayHaveHadEffect: stored.possible_effects > 0,
    createdAtMs: stored.created_at,
    nextAttemptAtMs: stored.next_at,
    deliveredAtMs: stored.delivered_at,
    lastError: stored.error,
    hint: stored.hint === '' ? null : stored.hint,
    reason: stored.reason === '' ? null : stored.reason,
    answer: stored.answer,
    brokenAnswer: stored.raw_body === '' ? null : stored.raw_body,
    log: stored.log === '' ? [] : stored.log,
  }));
export type Report = z.output<typeof reportRecord>;

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

/** What happened to a tow, oldest first. `at` is Redis time. */
export const timelineEntry = z.looseObject({ type: z.string() });
export type TimelineEntry = { readonly atMs: number } & z.infer<typeof timelineEntry>;

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
export const deliveryRecord = z
  .object({
    id: z.string(),
    kind: z.enum(DELIVERY_KINDS),
    towing_reference_id: z.string(),
    raw_body: z.string(),
    verified: z.enum(['verified', 'unverified']),
    signature_id: z.string(),
    state: z.enum(DELIVERY_STATES),
    verdict: z.string().default(''),
    received_at: counter,
    processed_at: momentMs,
    parked_at: momentMs,
    copies: counter,
    failures: counter,
    replays: counter.default(0),
  })
  .transform((stored) => ({
    id: stored.id,
    kind: stored.kind,
    towingReferenceId: stored.towing_reference_id,
    rawBody: stored.raw_body,
    verified: stored.verified === 'verified',
    signatureId: stored.signature_id === '' ? null : stored.signature_id,
    state: stored.state,
    verdict: stored.verdict === '' ? null : stored.verdict,
    receivedAtMs: stored.received_at,
    processedAtMs: stored.processed_at,
    /** When it was put aside to wait for its tow; null when it never was. */
    parkedAtMs: stored.parked_at,
    copies: stored.copies,
    failures: stored.failures,
    replays: stored.replays,
  }));
export type Delivery = z.output<typeof deliveryRecord>;

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
