import { z } from 'zod';
import type { Violation } from '../domain/violation';
import { brokenReferenceRule, REFERENCE_LENGTH_MAX, VIOLATION_APIS, VIOLATION_STATES } from '../domain/vocabulary';
import { jsonObject } from './common';
import { reason } from './fields';
import { pageQuery } from './paging';
import { attempt, reportError } from './records';
import { sensitive } from './sensitive';
import { violationForm } from './service';
import { counter, jsonText, momentMs, perhapsJson, storedObject } from './stored';

/** Violations: as people and programs send them, as Redis holds them, as the API shows them. */

const fieldRule = z.object({ field: z.string(), rule: z.string() });

const image = z.object({
  file: z.string(),
  name: z.string(),
  contentType: z.string(),
  sizeBytes: z.number(),
  sha256: z.string(),
});

/** What never changes but by a correction; kept as one JSON text beside the state of the work. */
export const violationDocument: z.ZodType<Violation> = z.object({
  id: z.string(),
  api: z.enum(VIOLATION_APIS),
  form: violationForm.extend({ metadata: storedObject }),
  metadataText: z.string().optional(),
  images: z.array(image),
  warnings: z.array(fieldRule),
  createdAt: z.string(),
  by: z.string(),
});

const names = z.union([z.literal('').transform(() => []), jsonText(z.array(z.string()))]).default([]);

/** A violation in Redis: one hash. */
export const violationRecord = z
  .object({
    document: jsonText(violationDocument),
    state: z.enum(VIOLATION_STATES),
    version: counter,
    revision: counter,
    attempts: counter.default(0),
    failures: counter.default(0),
    possible_effects: counter.default(0),
    attempt_id: z.string().default(''),
    next_at: momentMs,
    waits_for: z.string().default(''),
    first_failed_at: momentMs,
    give_up_at: momentMs,
    error: perhapsJson(reportError),
    hint: z.string().default(''),
    reason: z.string().default(''),
    /** Of the ticket check before a fine: '' never made, else its JSON. */
    ticket: perhapsJson(z.object({ checked_at: z.string(), has_active_ticket: z.boolean() })),
    /** How often in a row nobody could say whether there is a ticket. */
    ticket_failures: counter.default(0),
    /** '1' once a person said that the ticket shall not matter. */
    ticket_overruled: z.string().default(''),
    reference: z.string().default(''),
    /** All that the service, or a person, has called it. */
    references: names,
    service_status: z.string().default(''),
    can_tow: z.enum(['', 'true', 'false']).default(''),
    accepted_how: z.string().default(''),
    accepted_at: momentMs,
    drift: z.string().default(''),
    answer: perhapsJson(storedObject),
    raw_body: z.string().default(''),
    /** Towing references of the tows that came from it. */
    tows: names,
    log: z.union([z.literal(''), jsonText(z.array(jsonText(attempt)))]).default(''),
  })
  .transform((stored) => ({
    violation: stored.document,
    state: stored.state,
    /** Raised by every write; a decision made on an older version is refused. */
    version: stored.version,
    revision: stored.revision,
    attempts: stored.attempts,
    failures: stored.failures,
    mayHaveHadEffect: stored.possible_effects > 0,
    inFlight: stored.attempt_id !== '',
    nextAttemptAtMs: stored.next_at,
    waitsFor: stored.waits_for === '' ? null : stored.waits_for,
    giveUpAtMs: stored.give_up_at,
    lastError: stored.error,
    hint: stored.hint === '' ? null : stored.hint,
    reason: stored.reason === '' ? null : stored.reason,
    ticket: stored.ticket,
    ticketFailures: stored.ticket_failures,
    ticketOverruled: stored.ticket_overruled === '1',
    /** The service's name of it; of the guide form its `id`. */
    reference: stored.reference === '' ? null : stored.reference,
    /** Every name it was ever given, that one among them: a tow may ask for it by each. */
    references: stored.references,
    serviceStatus: stored.service_status === '' ? null : stored.service_status,
    canTow: stored.can_tow === '' ? null : stored.can_tow === 'true',
    /** `answered`, `proved_by_tow_request`, `late_answer` or `by_hand`. */
    acceptedHow: stored.accepted_how === '' ? null : stored.accepted_how,
    acceptedAtMs: stored.accepted_at,
    /** True while a person is asked about the answer by which it was accepted: its images stay, and it may be sent again. */
    isAnswerQuestioned: stored.drift === '1',
    answer: stored.answer,
    brokenAnswer: stored.raw_body === '' ? null : stored.raw_body,
    towingReferenceIds: stored.tows,
    log: stored.log === '' ? [] : stored.log,
  }));
export type ViolationRecord = z.output<typeof violationRecord>;

const moment = z.string().nullable();

/** A violation as the API shows it. */
export const violationView = z.object({
  id: z.string(),
  state: z.enum(VIOLATION_STATES),
  version: z.number(),
  api: z.enum(VIOLATION_APIS),
  violation_reference_id: z.string().nullable(),
  metadata_id: z.string(),
  /** The service's word for where it stands, as of its answer. */
  service_status: z.string().nullable(),
  /** Only from the guide form. */
  can_tow: z.boolean().nullable(),
  form: violationForm.extend({ metadata: jsonObject }),
  images: z.array(z.object({ name: z.string(), content_type: z.string(), size_bytes: z.number(), sha256: z.string() })),
  warnings: z.array(fieldRule),
  towing_reference_ids: z.array(z.string()),
  ticket: z.object({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable(),
  attempts: z.number(),
  last_error: reportError.nullable(),
  next_attempt_at: moment,
  waits_for: z.string().nullable(),
  give_up_at: moment,
  hint: z.string().nullable(),
  reason: z.string().nullable(),
  in_flight: z.boolean(),
  accepted_how: z.string().nullable(),
  accepted_at: moment,
  broken_answer: z.string().nullable(),
  log: z.array(attempt),
  created_at: z.string(),
  by: z.string(),
});
export type ViolationView = z.infer<typeof violationView>;

export const violationsQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(VIOLATION_STATES).optional(),
  q: sensitive(z.string().trim().max(200)).optional(),
});

/** Seen at the service by a person; with the service's name of it, a tow request finds it by that too. */
export const violationAcceptBody = z.strictObject({
  reason,
  violation_reference_id: z
    .string()
    .trim()
    .min(1, { abort: true })
    .max(REFERENCE_LENGTH_MAX, { abort: true })
    .refine((text) => brokenReferenceRule(text) === null, { error: ({ input }) => brokenReferenceRule(input) ?? '' })
    .optional(),
});

export const linkBody = z.strictObject({ violation_id: z.string().trim().min(1).max(200) });
