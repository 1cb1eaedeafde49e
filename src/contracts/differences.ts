import { z } from 'zod';
import { DIFFERENCE_DECISIONS, DIFFERENCE_SOURCES, SHOWN_DECISIONS } from '../domain/difference';
import { REPORT_KINDS } from '../domain/vocabulary';
import { pageQuery } from './paging';

/** Differences as they are stored, and as the API shows them. */

const seenField = z.object({ field: z.string(), type: z.string() });

/** The part of a kind that only a decision changes. Counts and times are fields of their own. */
export const storedDifference = z.looseObject({
  source: z.enum(DIFFERENCE_SOURCES),
  name: z.string(),
  shape: z.array(z.string()),
  isTolerated: z.boolean(),
  example: z.array(seenField),
  decision: z.enum(DIFFERENCE_DECISIONS),
  decided: z.object({ by: z.string(), atMs: z.number(), reason: z.string().nullable() }).nullable(),
  /** Answers that were accepted until then are no question any more. 0: a person never looked at the kind. */
  reviewedAtMs: z.number().default(0),
});

/** A kind of difference between the messages of the service and its document. */
export const differenceView = z.object({
  id: z.string(),
  source: z.enum(DIFFERENCE_SOURCES),
  /** The operation or the webhook. */
  name: z.string(),
  /** The broken rules, `field: rule`; empty for the kind that counts all kinds above the limit. */
  rules: z.array(z.string()),
  /** True if such messages can be read nevertheless. They never have a task. */
  tolerated: z.boolean(),
  /** Fields and types of the first such message. */
  example: z.array(seenField),
  count: z.number(),
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  /** closed: a person looked at it and closed its task; the next such message opens it again. */
  decision: z.enum(SHOWN_DECISIONS),
  decided_by: z.string().nullable(),
  decided_at: z.string().nullable(),
  reason: z.string().nullable(),
  /** The open task; null when there is none. */
  task_id: z.string().nullable(),
});
export type DifferenceView = z.infer<typeof differenceView>;

export const differingQuery = z.strictObject({ ...pageQuery });

/** A report or violation that was accepted with a difference that is not decided yet. It may be sent again. */
export const differingReport = z.object({
  accepted_at: z.string(),
  towing_reference_id: z.string().nullable(),
  report_id: z.string().nullable(),
  kind: z.enum(REPORT_KINDS).nullable(),
  violation_id: z.string().nullable(),
});
export type DifferingReport = z.infer<typeof differingReport>;
