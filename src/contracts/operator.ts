import { z } from 'zod';
import {
  DELIVERY_KINDS,
  DELIVERY_STATES,
  FACT_EVENTS,
  REPORT_KINDS,
  REPORT_STATES,
  PAUSABLE_OPERATIONS,
  ROLES,
  TOW_STATES,
  VIOLATION_TYPES,
} from '../domain/vocabulary';
import { jsonObject } from './common';
import { dispatchView } from './dispatch';
import { latitude, longitude, oneLine, reason, text } from './fields';
import { BUDGET_NAMES } from './operations';
import { ORDERS, page, pageQuery } from './paging';
import { attempt, reportError, task } from './records';
import { sensitive } from './sensitive';
import { violationView } from './violations';

/** The messages of the operator API: what people and the operator's own software send, and what they get. */

const occurredAt = z.string();

export const FACT_BODIES = {
  started: z.strictObject({
    // Open question Q14: length and format of a plate are not documented; anything that is not absurd is taken.
    plate_number: sensitive(text(50)).optional(),
    towed_location: text(500).optional(),
    latitude: latitude.optional(),
    longitude: longitude.optional(),
    occurred_at: occurredAt.optional(),
  }),
  detained: z.strictObject({ occurred_at: occurredAt.optional() }),
  released: z.strictObject({ occurred_at: occurredAt.optional() }),
  canceled: z.strictObject({
    cancellation_reason: text(500),
    occurred_at: occurredAt.optional(),
    reason: reason.optional(),
  }),
  invoice: z.strictObject({
    vehicle_type: text(50),
    delay_in_days: z.int().min(0).max(36_500).optional(),
    override_reason: reason.optional(),
  }),
  payment: z.strictObject({
    payment_status: text(50).optional(),
    external_reference: text(200).optional(),
    occurred_at: occurredAt.optional(),
  }),
} as const;

/** Any correctable field; which of them a report has is checked against its kind. */
export const correctionBody = z.strictObject({
  plate_number: sensitive(text(50)).optional(),
  towed_location: text(500).optional(),
  latitude: latitude.optional(),
  longitude: longitude.optional(),
  status_update_time: z.string().optional(),
  cancellation_reason: text(500).optional(),
  vehicle_type: text(50).optional(),
  delay_in_days: z.int().min(0).max(36_500).optional(),
  payment_status: text(50).optional(),
});

export const reasonBody = z.strictObject({ reason });
export const emptyBody = z.strictObject({});
export const resolveBody = z.strictObject({ reason: reason.optional() });
/** `grace_hours`: how long the old text stays valid, so that nobody is locked out meanwhile. */
export const rotateKeyBody = z.strictObject({ grace_hours: z.number().min(0).max(720).default(24) });
export const newApiKeyBody = z.strictObject({
  name: oneLine(text(100)),
  role: z.enum(ROLES),
});

const order = z.enum(ORDERS).optional();

export const towsQuery = z.strictObject({
  ...pageQuery,
  state: z.enum(TOW_STATES).optional(),
  q: sensitive(z.string().trim().max(200)).optional(),
  attention: z.enum(['true', 'false']).optional(),
  unsent: z.enum(['true', 'false']).optional(),
  overdue: z.enum(['true', 'false']).optional(),
  /** Its name; with nothing behind it, `crew=`: the tows of nobody. */
  crew: sensitive(z.string().trim().max(100)).optional(),
  order,
});
export const tasksQuery = z.strictObject({ ...pageQuery, order, type: z.string().trim().min(1).max(100).optional() });
export const deliveriesQuery = z.strictObject({
  ...pageQuery,
  quarantined: z.enum(['true', 'false']).optional(),
});
export const auditQuery = z.strictObject({ ...pageQuery, towing_reference_id: z.string().max(200).optional() });

const moment = z.string().nullable();

export const reportView = z.object({
  id: z.string(),
  kind: z.enum(REPORT_KINDS),
  state: z.enum(REPORT_STATES),
  attempts: z.number(),
  last_error: reportError.nullable(),
  next_attempt_at: moment,
  hint: z.string().nullable(),
  reason: z.string().nullable(),
  created_at: z.string(),
  delivered_at: moment,
  in_flight: z.boolean(),
  /** What it waits for besides its own time: `connection`, `outage`, `paused.<operation>` or `budget`. */
  waits_for: z.string().nullable(),
  /** When it is given up if it keeps failing; null before its first failure. */
  give_up_at: moment,
  /** The raw body of an answer that broke the contract. */
  broken_answer: z.string().nullable(),
  body: jsonObject,
  log: z.array(attempt),
});

/** A task with the report or the violation it is about: the service's words, what was sent, and every attempt. */
export const taskView = task.extend({ report: reportView.nullable(), violation: violationView.nullable() });

/** What holds sending now: the connection, an outage, paused operations; and the budgets of calls. */
export const sendingView = z.object({
  connection: z.object({ state: z.enum(['working', 'broken']), since: moment, next_try_at: moment }),
  service: z.object({
    state: z.enum(['working', 'down']),
    since: moment,
    next_try_at: moment,
    /** Failed calls in a row. */
    failures: z.number(),
  }),
  operations: z.array(
    z.object({
      operation: z.enum(PAUSABLE_OPERATIONS),
      state: z.enum(['open', 'paused']),
      since: moment,
      next_try_at: moment,
    }),
  ),
  /** The access token that all processes share; never the token itself. A valid one that tells no end has none. */
  token: z.object({ state: z.enum(['none', 'valid', 'expired']), expires_at: moment }),
  /** Tows and violations that wait for any of these. */
  held: z.number(),
  budgets: z.array(
    z.object({
      name: z.enum(BUDGET_NAMES),
      /** 0 = any number. */
      per_minute: z.number(),
      used: z.number(),
      waiting: z.number(),
    }),
  ),
});
export type SendingView = z.infer<typeof sendingView>;

/** A tow as the API shows it (design, "Outside face"). */
export const towView = z.object({
  towing_reference_id: z.string(),
  violation_reference_id: z.string(),
  metadata: jsonObject.nullable(),
  state: z.enum(TOW_STATES),
  version: z.number(),
  plate_number: sensitive(z.string().nullable()),
  towed_location: z.string().nullable(),
  latitude: z.number().nullable(),
  longitude: z.number().nullable(),
  zone_id: z.string().nullable(),
  violation_type: z.enum(VIOLATION_TYPES).nullable(),
  /** Our own violation that it comes from. */
  violation_id: z.string().nullable(),
  requested_at: z.string(),
  cancellation_reason: z.string().nullable(),
  facts: z.array(
    z.object({ event: z.enum(FACT_EVENTS), occurred_at: z.string(), recorded_at: z.string(), by: z.string() }),
  ),
  reports: z.array(reportView),
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

export const deliveryView = z.object({
  id: z.string(),
  kind: z.enum(DELIVERY_KINDS),
  state: z.enum(DELIVERY_STATES),
  verdict: z.string().nullable(),
  towing_reference_id: z.string(),
  verified: z.boolean(),
  signature_id: z.string().nullable(),
  received_at: z.string(),
  processed_at: moment,
  copies: z.number(),
  failures: z.number(),
  replays: z.number(),
});
export const deliveryDetail = deliveryView.extend({ raw_body: z.string() });

export const queueView = z.object({
  name: z.string(),
  waiting: z.number(),
  active: z.number(),
  failed: z.number(),
  due: z.number(),
  oldest_age_ms: z.number(),
  paused: z.boolean(),
});

export const apiKeyView = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  created_at: z.string(),
  /** Until when the text before a rotation is valid; null when there is none. */
  previous_valid_until: z.string().nullable(),
});
export const newApiKeyView = apiKeyView.extend({ api_key: sensitive(z.string()) });

/** Every refusal of the API (design, "Outside face"). */
export const errorView = z.object({
  code: z.string(),
  message: z.string(),
  details: z.array(z.object({ field: z.string(), rule: z.string() })),
});

export const deliveryPage = page(deliveryView);

/** A row of `GET /api/events`. */
export const eventView = z.object({
  at: z.string(),
  type: z.string(),
  towing_reference_id: z.string().optional(),
  violation_id: z.string().optional(),
});
