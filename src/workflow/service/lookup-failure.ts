import { isMisconfiguration, isServerFault, type Exchange } from '../../domain/service/policy';
import { askedMs as askedMsOf } from '../../domain/service/service-health';
import type { NoAnswer } from './lookup-port';

/** A call without an answer. */
type FailedExchange = Exclude<Exchange, { kind: 'accepted' }>;

/** Waits before another try where the service requests none, ms. */
const SOON_MS = 1000;
const WAIT_MS = 5000;
const LONG_WAIT_MS = 60_000;

/**
 * Turns a failed lookup call into the reason for its user, who gets it at once: lookups are not retried, and no
 * circuit counts them.
 * @param fields the wire names of the request's fields.
 */
export function noAnswerAfter(exchange: FailedExchange, fields: readonly string[], nowMs: number): NoAnswer {
  const because = (why: Exclude<NoAnswer['why'], 'refused'>, leastMs: number): NoAnswer => {
    const askedMs = askedMsOf(exchange, nowMs);
    return { why, retryAfterMs: askedMs > 0 ? askedMs : leastMs, exchange };
  };
  switch (exchange.kind) {
    case 'contract_broken':
    case 'not_the_service':
      return because('answer_broken', LONG_WAIT_MS);
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
      return because('unavailable', WAIT_MS);
    case 'connection':
      return because('connection_lost', WAIT_MS);
    case 'dropped':
      return because(exchange.cause === 'no_permit' ? 'budget_spent' : 'unavailable', SOON_MS);
    case 'refused': {
      const { httpStatus } = exchange;
      if (isMisconfiguration(exchange) || httpStatus === 401) return because('connection_lost', WAIT_MS);
      if (httpStatus === 403) return because('forbidden', LONG_WAIT_MS);
      if (httpStatus === 429 || isServerFault(httpStatus)) return because('unavailable', WAIT_MS);
      const message = exchange.message ?? `The service refused the question (HTTP ${httpStatus}).`;
      return { why: 'refused', message, field: fieldIn(message, fields) };
    }
  }
}

/**
 * Documented messages and the field that each is about (docs/service-api.md#violation-errors). A plate type is the
 * only enum in a lookup.
 */
const FIELD_OF_MESSAGE: Readonly<Record<string, string>> = {
  'zone not found': 'zoneId',
  'invalid enum value': 'plateType',
};

/** The field of a refusal: from the documented messages, else the first field that the message names. */
function fieldIn(message: string, fields: readonly string[]): string | null {
  const documented = FIELD_OF_MESSAGE[message.trim().toLowerCase()];
  if (documented !== undefined && fields.includes(documented)) return documented;
  const tokens = message.toLowerCase().split(/[^a-z0-9]+/);
  return fields.find((field) => tokens.includes(field.toLowerCase())) ?? null;
}
