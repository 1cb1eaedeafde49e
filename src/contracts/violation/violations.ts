import { withheldField } from '../outbox/withheld';
import { z } from 'zod';
import { DECISIONS } from '../../domain/outbox/decisions';
import { fieldRule } from '../../domain/refusal';
import { keptForm } from '../../domain/violation/violation';
import { brokenReferenceRule, REFERENCE_LENGTH_MAX, VIOLATION_APIS, VIOLATION_STATES } from '../../domain/vocabulary';
import { reason } from '../../domain/input-schemas';
import { jsonObject } from '../common';
import { pageQuery } from '../paging';
import { attempt, placeInQueue, reportError, task } from '../outbox/records';
import { sensitive } from '../../domain/sensitive';

/** Violations: as sent by people, and as the API shows them. */

const nullableTime = z.string().nullable();

const imageView = z.object({
  name: z.string(),
  content_type: z.string(),
  size_bytes: z.number(),
  sha256: z.string(),
});

/** A violation as the API shows it. */
export const violationView = z.object({
  id: z.string(),
  state: z.enum(VIOLATION_STATES),
  version: z.number(),
  api: z.enum(VIOLATION_APIS),
  violation_reference_id: z.string().nullable(),
  metadata_id: z.string(),
  /** The status in the service's answer. */
  service_status: z.string().nullable(),
  /** Only from the guide form. */
  can_tow: z.boolean().nullable(),
  form: keptForm.extend({ metadata: jsonObject }),
  images: z.array(imageView),
  /** Images that a correction replaced, oldest first. */
  replaced_images: z.array(imageView.extend({ replaced_at: z.string(), replaced_by: z.string() })),
  warnings: z.array(fieldRule),
  towing_reference_ids: z.array(z.string()),
  ticket: z.object({ checked_at: z.string(), has_active_ticket: z.boolean() }).nullable(),
  /** A person decided to send it without a ticket check. */
  ticket_overruled: z.boolean(),
  /** The open tasks about it. */
  tasks: z.array(task),
  /** What a person may decide about it now. */
  decisions: z.array(z.enum(DECISIONS)),
  /** Raised by each correction. */
  revision: z.number(),
  attempts: z.number(),
  last_error: reportError.nullable(),
  next_attempt_at: nullableTime,
  /** As in a report. */
  waits_for: z.string().nullable(),
  place_in_queue: placeInQueue.nullable(),
  ...withheldField,
  give_up_at: nullableTime,
  hint: z.string().nullable(),
  reason: z.string().nullable(),
  in_flight: z.boolean(),
  accepted_how: z.string().nullable(),
  accepted_at: nullableTime,
  broken_answer: z.string().nullable(),
  log: z.array(attempt),
  created_at: z.string(),
  by: z.string(),
});
export type ViolationView = z.infer<typeof violationView>;

export const violationDetail = violationView.extend({
  /** The numbers of the images, from 1, that are on the disk of the process that answers. */
  images_on_disk: z.array(z.number()),
});
export type ViolationDetail = z.infer<typeof violationDetail>;

export const violationsQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(VIOLATION_STATES).optional(),
  q: sensitive(z.string().trim().max(200))
    .optional()
    .describe('The beginning of a reference, an id or a plate. Only the first 1,000 matches are searched.'),
});

/** Accepted because a person saw it at the service. With a reference, tow requests can be matched by it. */
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
