import { z } from 'zod';
import { OPERATIONS, type OperationName, type DocumentedRefusal } from '../../contracts/service/operations';
import { WEBHOOKS } from '../../contracts/webhook/webhooks';
import type { Clock } from '../../platform/clock';

export type WebhookKind = keyof typeof WEBHOOKS;

export const SIMULATED_OPERATIONS = Object.keys(OPERATIONS).filter(isOperationName);
const WEBHOOK_KINDS = Object.keys(WEBHOOKS).filter(isWebhookKind);

/** Faults that answer with a status instead of the operation's answer, before any effect. */
export const STATUS_FAULTS = {
  '302': { httpStatus: 302, message: 'Found' },
  '400': { httpStatus: 400, message: 'Missing required field' },
  '401': { httpStatus: 401, message: 'Unauthorized' },
  '403': { httpStatus: 403, message: 'Access denied' },
  '404': { httpStatus: 404, message: 'Violation not found' },
  '408': { httpStatus: 408, message: 'Request Timeout' },
  '429': { httpStatus: 429, message: 'Too Many Requests' },
  '500': { httpStatus: 500, message: 'Internal Server Error' },
  '502': { httpStatus: 502, message: 'Bad Gateway' },
  '503': { httpStatus: 503, message: 'Service Unavailable' },
  '504': { httpStatus: 504, message: 'Gateway Timeout' },
} as const;
export type StatusFault = keyof typeof STATUS_FAULTS;
const STATUS_FAULT_NAMES = Object.keys(STATUS_FAULTS).filter(isStatusFault);

/** What each fault of a call does, besides the statuses. */
export const CALL_FAULTS = {
  latency: 'Waits `ms`, then works.',
  late: 'Works, and answers after `ms`.',
  lost_answer: 'Works, then closes the connection.',
  drop: 'Closes the connection before any effect.',
  hang: 'Never answers, and has no effect.',
  expired_token: '401, and the token of the call is no longer valid.',
  broken_answer: 'Works, then answers 200 without the data that the operation promises.',
  html_404: 'A 404 page instead of JSON, without effect.',
  html_200: 'A 200 page instead of JSON, without effect.',
} as const;
const CALL_FAULT_NAMES = Object.keys(CALL_FAULTS).filter(isCallFault);

/** A status fault is that answer, without effect; 429 and 503 send `ms` as `Retry-After` (429 always does). */
const OPERATION_FAULTS = [...CALL_FAULT_NAMES, ...STATUS_FAULT_NAMES] as const;
export type OperationFault = (typeof OPERATION_FAULTS)[number];

/** What each fault of an attempt to deliver a webhook does. */
export const WEBHOOK_FAULTS = {
  drop: 'Not sent; the next attempt follows.',
  lost_answer: 'Sent, its answer ignored, so the next attempt follows.',
  duplicate: 'Sent twice at once.',
  latency: 'Sent after `ms`.',
  late: 'Sent after `ms`.',
  reorder: 'Delayed until another webhook was sent, at most `ms`.',
} as const;
export type WebhookFault = keyof typeof WEBHOOK_FAULTS;
const WEBHOOK_FAULT_NAMES = Object.keys(WEBHOOK_FAULTS).filter(isWebhookFault);

const FAULT_DURATION_MS = 1000;

/** The body of `PUT /simulator/faults`. */
export const faultRules = z.array(
  z
    .strictObject({
      operation: z.enum([...SIMULATED_OPERATIONS, ...WEBHOOK_KINDS, '*']),
      fault: z.enum([...new Set([...OPERATION_FAULTS, ...WEBHOOK_FAULT_NAMES])]),
      /** Only this many of the matching calls. */
      times: z.int().min(0).optional(),
      /** The fraction of the matching calls. */
      rate: z.number().min(0).max(1).optional(),
      ms: z.int().min(0).max(3_600_000).optional(),
      /** Only calls whose path contains this. */
      path: z.string().min(1).optional(),
      towing_reference_id: z.string().min(1).optional(),
      /** The message of the error instead of the default. */
      message: z.string().min(1).optional(),
    })
    .check(({ value, issues }) => {
      if (value.times !== undefined && value.rate !== undefined) {
        issues.push({ code: 'custom', input: value.rate, path: ['rate'], message: 'does not go together with times' });
      }
      const isForOperation = value.operation === '*' || isOperationName(value.operation);
      const isForWebhook = value.operation === '*' || isWebhookKind(value.operation);
      if (!(isForOperation && isOperationFault(value.fault)) && !(isForWebhook && isWebhookFault(value.fault))) {
        const message = `does not exist for ${value.operation}`;
        issues.push({ code: 'custom', input: value.fault, path: ['fault'], message });
      }
    }),
);
export type FaultRule = z.infer<typeof faultRules>[number];

/** A fault that applies to a call. */
export interface Hit<F extends string> {
  readonly fault: F;
  /** Null when the rule names no time. */
  readonly wantedMs: number | null;
  /** The rule's time, else one second. */
  readonly ms: number;
  readonly message: string | null;
}

interface FaultSubject<N extends string> {
  readonly name: N;
  readonly path: string;
  readonly towingReference: string | null;
}

/** The active faults. The first matching rule applies; a rule that is used up or misses its rate does not match. */
export class FaultRules {
  readonly #clock: Clock;
  #rules: { readonly rule: FaultRule; hits: number }[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  replace(rules: readonly FaultRule[]): void {
    this.#rules = rules.map((rule) => ({ rule, hits: 0 }));
  }

  rules(): FaultRule[] {
    return this.#rules.map(({ rule }) => rule);
  }

  /** The fault of a call on an operation, if any; it counts as used. */
  forCall(call: FaultSubject<OperationName>): Hit<OperationFault> | null {
    return this.#take(call, isOperationFault);
  }

  /** The fault of one attempt to deliver a webhook, if any; it counts as used. */
  forWebhook(webhook: FaultSubject<WebhookKind>): Hit<WebhookFault> | null {
    return this.#take(webhook, isWebhookFault);
  }

  #take<F extends string>(subject: FaultSubject<string>, applies: (fault: string) => fault is F): Hit<F> | null {
    for (const entry of this.#rules) {
      const { rule } = entry;
      const { fault } = rule;
      const matches =
        (rule.operation === '*' || rule.operation === subject.name) &&
        (rule.path === undefined || subject.path.includes(rule.path)) &&
        (rule.towing_reference_id === undefined || rule.towing_reference_id === subject.towingReference) &&
        (rule.times === undefined || entry.hits < rule.times);
      if (!matches || !applies(fault)) continue;
      if (rule.rate !== undefined && this.#clock.random() >= rule.rate) continue;
      entry.hits += 1;
      return { fault, wantedMs: rule.ms ?? null, ms: rule.ms ?? FAULT_DURATION_MS, message: rule.message ?? null };
    }
    return null;
  }
}

function isStatusFault(fault: string): fault is StatusFault {
  return Object.hasOwn(STATUS_FAULTS, fault);
}

function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

function isWebhookKind(name: string): name is WebhookKind {
  return Object.hasOwn(WEBHOOKS, name);
}

function isCallFault(fault: string): fault is keyof typeof CALL_FAULTS {
  return Object.hasOwn(CALL_FAULTS, fault);
}

function isOperationFault(fault: string): fault is OperationFault {
  return OPERATION_FAULTS.some((known) => known === fault);
}

function isWebhookFault(fault: string): fault is WebhookFault {
  return Object.hasOwn(WEBHOOK_FAULTS, fault);
}

/** The documented errors (docs/service-api.md#errors), verbatim, and that of a rate limit, which is "not shown". */
export const REFUSALS = {
  missingField: { httpStatus: 400, message: 'Missing required field' },
  invalidEnum: { httpStatus: 400, message: 'Invalid enum value' },
  zoneNotFound: { httpStatus: 400, message: 'Zone not found' },
  imagesTooLarge: { httpStatus: 400, message: 'Image size exceeds limit' },
  unauthorized: { httpStatus: 401, message: 'Unauthorized' },
  plateNotFound: { httpStatus: 404, message: 'Plate number not found' },
  violationNotFound: { httpStatus: 404, message: 'Violation not found' },
  tooManyRequests: { httpStatus: 429, message: 'Too Many Requests' },
  serverError: { httpStatus: 500, message: 'Internal Server Error' },
} as const satisfies Record<string, DocumentedRefusal>;

/** A refused call; `field` names the wrong field, for the log only. */
export interface RefusedCall {
  readonly refusal: DocumentedRefusal;
  readonly field?: string;
}
