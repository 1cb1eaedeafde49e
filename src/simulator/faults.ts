import { z } from 'zod';
import { OPERATIONS, type OperationName } from '../contracts/operations';
import { WEBHOOKS } from '../contracts/webhooks';
import type { Clock } from '../platform/clock';

export type WebhookKind = keyof typeof WEBHOOKS;

export const OPERATION_NAMES = Object.keys(OPERATIONS).filter(isOperationName);
export const WEBHOOK_KINDS = Object.keys(WEBHOOKS).filter(isWebhookKind);

/** Answers that a fault gives instead of the operation's own, before any effect. */
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

/**
 * What can go wrong with a call on an operation.
 *
 * - latency: waits `ms`, then works. late: works now, answers after `ms`.
 * - lost_answer: works, then cuts the connection. drop: cuts it before any effect. hang: never answers, no effect.
 * - expired_token: 401, and the token of the call is no longer valid.
 * - broken_answer: works, then answers 200 with data that breaks the contract. html_404: a 404 page that is no JSON.
 * - a status: that answer, no effect; 429 and 503 tell `ms` as `Retry-After` (429 always does, at least 1 s).
 */
export const OPERATION_FAULTS = [
  'latency',
  'late',
  'lost_answer',
  'drop',
  'hang',
  'expired_token',
  'broken_answer',
  'html_404',
  ...STATUS_FAULT_NAMES,
] as const;
export type OperationFault = (typeof OPERATION_FAULTS)[number];

/**
 * What can go wrong with an attempt to deliver a webhook.
 *
 * - drop: not sent; the schedule goes on. lost_answer: sent, its answer not seen, so it is sent again.
 * - duplicate: sent twice at once. latency, late: sent after `ms`.
 * - reorder: held until another webhook was sent, at most `ms`.
 */
export const WEBHOOK_FAULTS = ['drop', 'lost_answer', 'duplicate', 'latency', 'late', 'reorder'] as const;
export type WebhookFault = (typeof WEBHOOK_FAULTS)[number];

const FAULT_DURATION_MS = 1000;

/** The body of `PUT /simulator/faults`. */
export const faultRules = z.array(
  z
    .strictObject({
      operation: z.enum([...OPERATION_NAMES, ...WEBHOOK_KINDS, '*']),
      fault: z.enum([...new Set([...OPERATION_FAULTS, ...WEBHOOK_FAULTS])]),
      /** Only the first so many calls it matches. */
      times: z.int().min(0).optional(),
      /** The part of the calls it hits. */
      rate: z.number().min(0).max(1).optional(),
      ms: z.int().min(0).max(3_600_000).optional(),
      /** Only calls whose path contains this. */
      path: z.string().min(1).optional(),
      towing_reference_id: z.string().min(1).optional(),
      /** The error's text instead of the usual one. */
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

/** A fault that hits. */
export interface Hit<F extends string> {
  readonly fault: F;
  /** Null when the rule names no time. */
  readonly wantedMs: number | null;
  /** The rule's time, else the usual second. */
  readonly ms: number;
  readonly message: string | null;
}

interface Subject<N extends string> {
  readonly name: N;
  readonly path: string;
  readonly towingReference: string | null;
}

/** The faults in force. The first rule that matches a call wins; one that is used up or misses its rate does not match. */
export class Faults {
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

  /** The fault that hits a call on an operation, if any; it counts as used. */
  forCall(call: Subject<OperationName>): Hit<OperationFault> | null {
    return this.#take(call, isOperationFault);
  }

  /** The fault that hits one attempt to deliver a webhook, if any; it counts as used. */
  forWebhook(webhook: Subject<WebhookKind>): Hit<WebhookFault> | null {
    return this.#take(webhook, isWebhookFault);
  }

  #take<F extends string>(subject: Subject<string>, applies: (fault: string) => fault is F): Hit<F> | null {
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

export function isStatusFault(fault: string): fault is StatusFault {
  return Object.hasOwn(STATUS_FAULTS, fault);
}

function isOperationName(name: string): name is OperationName {
  return Object.hasOwn(OPERATIONS, name);
}

function isWebhookKind(name: string): name is WebhookKind {
  return Object.hasOwn(WEBHOOKS, name);
}

function isOperationFault(fault: string): fault is OperationFault {
  return OPERATION_FAULTS.some((known) => known === fault);
}

function isWebhookFault(fault: string): fault is WebhookFault {
  return WEBHOOK_FAULTS.some((known) => known === fault);
}
