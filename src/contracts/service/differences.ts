import { z } from 'zod';
import { DIFFERENCE_SOURCES } from '../../domain/service/difference';

/** Differences as they are stored, and as the API shows them. */

const seenField = z.object({ field: z.string(), type: z.string() });

/** The part of a kind that never changes. Counts, times and the decision are fields of their own. */
export const storedDifference = z.looseObject({
  source: z.enum(DIFFERENCE_SOURCES),
  name: z.string(),
  shape: z.array(z.string()),
  isTolerated: z.boolean(),
  example: z.array(seenField),
});

export const storedExpected = z.object({ by: z.string(), atMs: z.number(), reason: z.string().nullable() });

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
  /** Webhooks that are kept because of it and wait to be judged again. */
  waiting: z.number(),
  first_seen_at: z.string(),
  last_seen_at: z.string(),
  /** Who declared such messages expected; null while a task asks about them. */
  expected_by: z.string().nullable(),
  expected_at: z.string().nullable(),
  reason: z.string().nullable(),
  /** The open task; null when there is none. */
  task_id: z.string().nullable(),
});
export type DifferenceView = z.infer<typeof differenceView>;
