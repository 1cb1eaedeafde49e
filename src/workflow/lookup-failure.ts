import { askedWaitMs } from '../domain/backoff';
import { isMisconfiguration, type Exchange } from '../domain/policy';
import type { NoAnswer } from './lookup-port';

/** A call that brought no answer. */
type Failed = Exclude<Exchange, { kind: 'accepted' }>;

/** When to ask again where the service does not say, ms. */
const SOON_MS = 1000;
const WAIT_MS = 5000;
const LONG_WAIT_MS = 60_000;

/**
 * Why a question got no answer, out of the exchange it came to. People are told at once: nothing is tried again by
 * itself, and no circuit counts it.
 * @param fields the names of the question's fields on the wire.
 */
export function noAnswerAfter(exchange: Failed, fields: readonly string[], nowMs: number): NoAnswer {
  const because = (why: Exclude<NoAnswer['why'], 'refused'>, leastMs: number): NoAnswer => {
    const askedMs = 'notBeforeMs' in exchange ? askedWaitMs(exchange.notBeforeMs, nowMs) : 0;
    return { why, retryAfterMs: askedMs > 0 ? askedMs : leastMs, exchange };
  };
  switch (exchange.kind) {
    case 'contract_broken':
    case 'not_the_service':
      return because('answer_broken', LONG_WAIT_MS);
    case 'surely_not_sent':
    case 'unanswered':
      return because('unavailable', WAIT_MS);
    case 'connection':
      return because('connection_lost', WAIT_MS);
    case 'dropped':
      return because('budget_spent', SOON_MS);
    case 'refused': {
      const { httpStatus } = exchange;
      if (isMisconfiguration(exchange) || httpStatus === 401) return because('connection_lost', WAIT_MS);
      if (httpStatus === 403) return because('forbidden', LONG_WAIT_MS);
      if (httpStatus === 408 || httpStatus === 429 || httpStatus >= 500) return because('unavailable', WAIT_MS);
      const message = exchange.message ?? `The service refused the question (HTTP ${httpStatus}).`;
      return { why: 'refused', message, field: fieldIn(message, fields) };
    }
  }
}

/** Documented words that stand for one field (service-api 7.1); a plate type is the only enum that can be asked about. */
const FIELD_OF_WORDS: Readonly<Record<string, string>> = {
  'zone not found': 'zoneId',
  'invalid enum value': 'plateType',
};

/** The field that a refusal is about: by the documented words, else the first one it names. */
function fieldIn(message: string, fields: readonly string[]): string | null {
  const documented = FIELD_OF_WORDS[message.trim().toLowerCase()];
  if (documented !== undefined && fields.includes(documented)) return documented;
  const words = message.toLowerCase().split(/[^a-z0-9]+/);
  return fields.find((field) => words.includes(field.toLowerCase())) ?? null;
}
