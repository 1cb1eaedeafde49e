import { z } from 'zod';
import { changeData, changeSubject, isChangeType } from '../../domain/ops/changes';
import { SUBSCRIPTION_INCLUDES } from '../../domain/ops/subscriptions';
import { oneLine, text } from '../../domain/input-schemas';
import { sensitive } from '../../domain/sensitive';
import { timestampMs } from '../../domain/timestamp';
import { changeCursor } from './changes';

/** Subscriptions to changes as the API shows and takes them. */

const types = z
  .array(z.string().refine(isChangeType, 'must be a type of change (GET /openapi.json, webhooks)'))
  .max(100)
  .default([])
  .describe('the types to send; default: all');

export const newSubscriptionBody = z.strictObject({
  name: oneLine(text(100)),
  url: z.string().trim().max(2000).describe('where changes are posted to, https://'),
  types,
  include: z
    .enum(SUBSCRIPTION_INCLUDES)
    .default('reference')
    .describe('`record`: with the tow or violation as it is when it is sent'),
});

export const replayBody = z.strictObject({
  after: changeCursor.optional(),
  since: z
    .string()
    .refine((value) => timestampMs(value) !== null, 'must be an ISO 8601 date and time with Z or an offset')
    .optional()
    .describe('instead of a cursor: everything from this time on'),
  preview: z.boolean().default(true).describe('only count; `false` sends again'),
});
export const replayView = z.object({
  /** How many changes; at most 10,000 are counted. */
  changes: z.number(),
  is_complete: z.boolean(),
  preview: z.boolean(),
});

const lastAnswer = z.object({ at: z.string(), http_status: z.number().nullable(), problem: z.string().nullable() });

export const subscriptionView = z.object({
  id: z.string(),
  name: z.string(),
  url: z.string(),
  types: z.array(z.string()),
  include: z.enum(SUBSCRIPTION_INCLUDES),
  created_at: z.string(),
  /** `failure`: nothing was accepted for SUBSCRIPTION_GIVE_UP_HOURS. */
  paused_by: z.enum(['person', 'failure']).nullable(),
  /** How old the oldest change is that was not accepted, s; 0 when all were. */
  lag_seconds: z.number(),
  /** Records of which changes wait for another attempt. */
  behind: z.array(
    z.object({ subject: z.string(), since: z.string(), attempts: z.number(), next_attempt_at: z.string() }),
  ),
  failures: z.number(),
  /** While it fails for all: when one change is tried. */
  tried_again_at: z.string().nullable(),
  last_answer: lastAnswer.nullable(),
  previous_valid_until: z.string().nullable(),
});
export type SubscriptionView = z.infer<typeof subscriptionView>;
export const newSubscriptionView = subscriptionView.extend({ secret: sensitive(z.string()) });

/** The body of a delivery. */
export const postedChange = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: changeData.extend({
    cursor: z.string(),
    subject: changeSubject.nullable(),
    /** 1, 2, 3, … of its subject, without a gap; null when it is about no known record. */
    sequence: z.number().nullable(),
    /** With `include: record`: the tow or violation as it is when it is sent. */
    record: z.record(z.string(), z.unknown()).optional(),
  }),
});

/** What became of a test. */
export const testedView = z.object({
  delivered: z.boolean(),
  http_status: z.number().nullable(),
  problem: z.string().nullable(),
});
