import { z } from 'zod';
import type { Violation } from '../domain/violation';
import {
  brokenReferenceRule,
  REFERENCE_LENGTH_MAX,
  VIOLATION_APIS,
  VIOLATION_STATES,
  type JsonObject,
  type ViolationState,
} from '../domain/vocabulary';
import { jsonObject } from './common';
import { reason } from './fields';
import { pageQuery } from './paging';
import { attempt, reportError, type Attempt, type ReportError } from './records';
import { sensitive } from './sensitive';
import { violationForm } from './service';
import { storedObject } from './stored';

/** Violations: as people and programs send them, as Redis holds them, as the API shows them. */

const fieldRule = z.object({ field: z.string(), rule: z.string() });

const image = z.looseObject({
  file: z.string(),
  name: z.string(),
  contentType: z.string(),
  sizeBytes: z.number(),
  sha256: z.string(),
});

/** What never changes but by a correction; kept as one JSON text beside the state of the work. */
export const violationDocument: z.ZodType<Violation> = z.looseObject({
  id: z.string(),
  api: z.enum(VIOLATION_APIS),
  form: violationForm.extend({ metadata: storedObject }),
  metadataText: z.string().optional(),
  images: z.array(image),
  warnings: z.array(fieldRule),
  createdAt: z.string(),
  by: z.string(),
});

/** A violation as use cases read it. */
export interface ViolationRecord {
  readonly violation: Violation;
  readonly state: ViolationState;
  /** Raised by every write; a decision made on an older version is refused. */
  readonly version: number;
  readonly revision: number;
  readonly attempts: number;
  readonly failures: number;
  readonly mayHaveHadEffect: boolean;
  readonly inFlight: boolean;
  readonly nextAttemptAtMs: number | null;
  readonly waitsFor: string | null;
  readonly giveUpAtMs: number | null;
  readonly lastError: ReportError | null;
  readonly hint: string | null;
  readonly reason: string | null;
  /** Of the ticket check before a fine; null when it was never made. */
  readonly ticket: { readonly checked_at: string; readonly has_active_ticket: boolean } | null;
  /** How many ticket checks in a row had no result. */
  readonly ticketFailures: number;
  /** True once a person decided to send it without the ticket check. */
  readonly ticketOverruled: boolean;
  /** The service's name of it; of the guide form its `id`. */
  readonly reference: string | null;
  /** Every name it was ever given, that one among them: a tow may ask for it by each. */
  readonly references: readonly string[];
  readonly serviceStatus: string | null;
  readonly canTow: boolean | null;
  /** `answered`, `proved_by_tow_request`, `late_answer` or `by_hand`. */
  readonly acceptedHow: string | null;
  readonly acceptedAtMs: number | null;
  /** True while a person is asked about the answer by which it was accepted: its images stay, and it may be sent again. */
  readonly isAnswerQuestioned: boolean;
  readonly answer: JsonObject | null;
  /** The body of an answer that broke the contract. */
  readonly brokenAnswer: string | null;
  /** Towing references of the tows that came from it. */
  readonly towingReferenceIds: readonly string[];
  readonly log: readonly Attempt[];
}

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
