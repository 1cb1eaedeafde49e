import { z } from 'zod';
import { fieldRule } from '../domain/refusal';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  ENTRY_KINDS,
  FACT_EVENTS,
  REPORT_KINDS,
  REPORT_STATES,
  ROLES,
  TOW_STATES,
  VIOLATION_TYPES,
} from '../domain/vocabulary';
import { TASK_TYPES } from '../domain/ops/tasks';
import { DECISIONS } from '../domain/outbox/decisions';
import { OVERDUE_STATES } from '../domain/outbox/overdue';
import { RELEASE_ITEMS } from '../domain/tow/release-checklist';
import { whereaboutsView } from '../domain/tow/tow';
import { oneLine, reason, text } from '../domain/input-schemas';
import { jsonObject } from './common';
import { dispatchView } from './tow/dispatch';
import { BUDGET_NAMES } from './service/operations';
import { SORT_ORDERS, page, pageQuery } from './paging';
import { attempt, placeInQueue, reportError, task } from './outbox/records';
import { sensitive } from '../domain/sensitive';
import { modeView, withheldField } from './outbox/withheld';
import { violationView } from './violation/violations';

/** The requests and answers of the operator API. */

export const reasonBody = z.strictObject({ reason });
export const emptyBody = z.strictObject({});
export const resolveBody = z.strictObject({ reason: reason.optional() });
export const rotateKeyBody = z.strictObject({
  grace_hours: z.number().min(0).max(720).default(24).describe('how long the earlier secret stays valid; default: 24'),
});
export const newApiKeyBody = z.strictObject({
  // The audit names keys by their names, so no two may look alike.
  name: oneLine(text(100)).refine((name) => !/\p{Cf}/u.test(name), 'must not contain control characters'),
  role: z.enum(ROLES),
});

const order = z.enum(SORT_ORDERS).optional();

function splitText(given: unknown): unknown {
  return typeof given === 'string' ? given.split(',') : given;
}

export const towsQuery = z.strictObject({
  ...pageQuery,
  state: z
    .preprocess(splitText, z.array(z.enum(TOW_STATES)))
    .optional()
    .describe('one or more, separated by commas'),
  q: sensitive(z.string().trim().max(200))
    .optional()
    .describe('The beginning of a reference, plate or invoice number. Only the first 10,000 matches are searched.'),
  attention: z.enum(['true', 'false']).optional().describe('only tows with an open task'),
  unsent: z.enum(['true', 'false']).optional().describe('only tows with reports not yet sent'),
  overdue: z.enum(['true', 'false']).optional().describe('only tows that are overdue'),
  crew: sensitive(z.string().trim().max(100)).optional().describe('only tows of this crew; empty: without one'),
  order,
});
export const tasksQuery = z.strictObject({
  ...pageQuery,
  order,
  type: z.enum(TASK_TYPES).optional(),
  /** The kind of the report, or the operation. */
  kind: z.enum(ENTRY_KINDS).optional(),
  towing_reference_id: z.string().max(500).optional(),
});
export const deliveriesQuery = z.strictObject({
  ...pageQuery,
  differing: z
    .enum(['true', 'false'])
    .optional()
    .describe('only those that break the contract and wait to be judged again'),
  difference_id: z.string().max(200).optional().describe('only those of them with this kind of difference'),
});
export const otherCallsQuery = z.strictObject({ limit: pageQuery.limit });
export const auditQuery = z.strictObject({ ...pageQuery, towing_reference_id: z.string().max(200).optional() });

const timestamp = z.string().nullable();

export const reportView = z.object({
  id: z.string(),
  kind: z.enum(REPORT_KINDS),
  state: z.enum(REPORT_STATES),
  /** Raised by each correction. */
  revision: z.number(),
  /** What a person may decide about it now. */
  decisions: z.array(z.enum(DECISIONS)),
  attempts: z.number(),
  last_error: reportError.nullable(),
  next_attempt_at: timestamp,
  hint: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.string(),
  delivered_at: timestamp,
  in_flight: z.boolean(),
  /** What blocks it: the name of a circuit, or `budget`. */
  waits_for: z.string().nullable(),
  /** Its place among the reports that wait for the rate limit; null when it is not among them. */
  place_in_queue: placeInQueue.nullable(),
  /** When it is given up if it keeps failing; null before its first failure. */
  give_up_at: timestamp,
  /** The raw body of an answer that broke the contract. */
  broken_answer: z.string().nullable(),
  /** The answer that accepted it. */
  answer: jsonObject.nullable(),
  body: jsonObject,
  log: z.array(attempt),
});
export type ReportView = z.infer<typeof reportView>;

/** A task with its tow, report or violation: the message of the service, what was sent, and the attempts. */
export const taskView = task.extend({
  tow: z.object({ state: z.enum(TOW_STATES), plate_number: sensitive(z.string().nullable()) }).nullable(),
  report: reportView.nullable(),
  violation: violationView.nullable(),
});
export type TaskView = z.infer<typeof taskView>;

/** The open tasks by type, and of each type by kind of report or operation. Types without a task are left out. */
export const taskCounts = z.object({
  total: z.number(),
  types: z.array(
    z.object({
      type: z.string(),
      count: z.number(),
      kinds: z.array(z.object({ kind: z.enum(ENTRY_KINDS), count: z.number() })),
    }),
  ),
});
export type TaskCounts = z.infer<typeof taskCounts>;

/** What every page shows. `held`: withheld tows and violations that wait for a decision. */
export const statusView = z.object({
  mode: modeView,
  held: z.number(),
  open_tasks: z.number(),
  /** The cursor of now in the feed of changes (GET /api/changes). */
  cursor: z.string(),
});
export type StatusView = z.infer<typeof statusView>;

/** What blocks sending now: the connection, an outage, paused operations; and the rate limits. */
export const sendingView = z.object({
  mode: modeView,
  connection: z.object({
    state: z.enum(['working', 'broken']),
    /** The service refuses the credentials (401 or 403). */
    refuses_credentials: z.boolean(),
    since: timestamp,
    next_try_at: timestamp,
  }),
  service: z.object({
    state: z.enum(['working', 'down']),
    since: timestamp,
    next_try_at: timestamp,
    /** Failed calls in a row; 0 once the last one is more than 15 minutes old, unless an outage lasts. */
    failures: z.number(),
  }),
  operations: z.array(
    z.object({
      operation: z.enum(ENTRY_KINDS),
      state: z.enum(['open', 'paused']),
      since: timestamp,
      next_try_at: timestamp,
    }),
  ),
  /** State of the access token that all processes share, without the token. `expires_at` is null if it is unknown. */
  token: z.object({ state: z.enum(['none', 'valid', 'expired']), expires_at: timestamp }),
  /** Tows and violations that wait for any of these. */
  held: z.number(),
  budgets: z.array(
    z.object({
      name: z.enum(BUDGET_NAMES),
      /** Our limit; 0 = any number. */
      per_minute: z.number(),
      /** The limit that the service announced last; null without one. */
      announced_per_minute: z.number().nullable(),
      announced_at: timestamp,
      /** The limit that counts: ours, or the announced one for 10 minutes if it is lower; 0 = any number. */
      limit: z.number(),
      /** Calls of the last minute. Counted only with a limit. */
      used: z.number(),
      waiting: z.number(),
      /** Until when the service asked to make no such call; null when the budget is open. */
      closed_until: timestamp,
    }),
  ),
});
export type SendingView = z.infer<typeof sendingView>;

export const towView = z.object({
  towing_reference_id: z.string(),
  violation_reference_id: z.string(),
  metadata: jsonObject.nullable(),
  state: z.enum(TOW_STATES),
  version: z.number(),
  ...whereaboutsView.shape,
  zone_id: z.string().nullable(),
  violation_type: z.enum(VIOLATION_TYPES).nullable(),
  /** The operator's own violation that led to it. */
  violation_id: z.string().nullable(),
  requested_at: z.string(),
  /** When the fact of its state happened; when it was requested before its first fact. */
  state_since: z.string(),
  ...withheldField,
  cancellation_reason: z.string().nullable(),
  facts: z.array(
    z.object({ event: z.enum(FACT_EVENTS), occurred_at: z.string(), recorded_at: z.string(), by: z.string() }),
  ),
  reports: z.array(reportView),
  /** What the invoice was requested with; null before. */
  invoice_request: z
    .object({
      vehicle_type: z.string(),
      delay_in_days: z.number(),
      computed_delay_in_days: z.number(),
      override_reason: z.string().nullable(),
    })
    .nullable(),
  /** As recorded; a payment is withdrawn when its report was waived. */
  payments: z.array(
    z.object({ payment_status: z.string(), external_reference: z.string().nullable(), withdrawn: z.boolean() }),
  ),
  invoices: z.array(
    z.object({
      source: z.enum(['answer', 'webhook']),
      received_at: z.string(),
      towing_invoice: jsonObject,
      delay_invoice: jsonObject.nullable(),
    }),
  ),
  tasks: z.array(task),
  dispatch: dispatchView,
  timeline: z.array(z.looseObject({ at: z.string(), type: z.string() })),
});
export type TowView = z.infer<typeof towView>;

/** A tow as it is read, with what follows from the rules of this installation. */
export const towNow = towView.extend({
  /** Why it is overdue, and since when. */
  overdue: z.array(z.object({ what: z.enum([...OVERDUE_STATES, 'report']), since: z.string() })),
  /** What a release depends on; `needed` is false for information only. */
  release: z.array(z.object({ item: z.enum(RELEASE_ITEMS), met: z.boolean(), needed: z.boolean() })),
});
export type TowNow = z.infer<typeof towNow>;

/** The numbers of tows, and the crews that have tows. */
export const towCounts = z.object({
  by_state: z.record(z.enum(TOW_STATES), z.number()),
  attention: z.number(),
  unsent: z.number(),
  overdue: z.number(),
  crews: z.array(z.string()),
});
export type TowCounts = z.infer<typeof towCounts>;

export const deliveryView = z.object({
  id: z.string(),
  kind: z.enum(DELIVERY_KINDS),
  state: z.enum(DELIVERY_STATES),
  verdict: z.string().nullable(),
  /** The kind of difference from the contract that it was kept for; null if none. */
  difference_id: z.string().nullable(),
  towing_reference_id: z.string(),
  verified: z.boolean(),
  signature_id: z.string().nullable(),
  /** When the sender signed it; null without a verified signature. */
  signed_at: timestamp,
  received_at: z.string(),
  processed_at: timestamp,
  copies: z.number(),
  failures: z.number(),
  replays: z.number(),
});
export type DeliveryView = z.infer<typeof deliveryView>;
export const deliveryDetail = deliveryView.extend({
  raw_body: z.string(),
  /** How it differs from the document: the rules that it breaks, or what was tolerated. */
  differences: z.array(fieldRule),
});

export const queueView = z.object({
  name: z.string(),
  waiting: z.number(),
  active: z.number(),
  failed: z.number(),
  due: z.number(),
  oldest_age_ms: z.number(),
  paused: z.boolean(),
});
export type QueueView = z.infer<typeof queueView>;

export const apiKeyView = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  created_at: z.string(),
  /** Until when the secret before a rotation is valid; null if there is none. */
  previous_valid_until: z.string().nullable(),
});
export const newApiKeyView = apiKeyView.extend({ api_key: sensitive(z.string()) });

/** The body of every refusal. */
export const errorView = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(fieldRule),
  /** Of `cursor_expired`: the cursor of now. */
  next_cursor: z.string().exactOptional(),
});

export const deliveryPage = page(deliveryView);
