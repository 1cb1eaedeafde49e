import { jsonObject } from '../../contracts/common';
import { OPERATIONS, type AnswerOf, type OperationName, type RequestOf } from '../../contracts/service/operations';
import type { SeenDifference } from '../../domain/service/difference';
import { type Exchange, isMisconfiguration, isServerFault } from '../../domain/service/policy';
import type { Clock } from '../../platform/clock';
import { differenceOfAnswer } from './differences';
import { brokenIf, type CallOptions, type CallResult, type ServicePort } from './service-port';
import type { JsonObject } from '../../domain/vocabulary';
import { askedMs as askedMsOf } from '../../domain/service/service-health';

/**
 * Lookups at the service (docs/service-api.md#guide-operations): free spaces of a zone, and whether a vehicle has an
 * active ticket. Identical questions share one call and, for a short while, its answer. Lookups of people and of
 * workers are alike. A failure goes to its caller and opens no circuit.
 */
export interface Lookups extends TicketCheck {
  capacity(zoneId: string): Promise<LookupAnswer<AnswerOf<'capacity'>>>;
  ticket(question: TicketQuestion): Promise<LookupAnswer<AnswerOf<'ticket'>>>;
}

/** The ticket check before a violation is sent. */
export interface TicketCheck {
  /** Cached answers (LOOKUP_CACHE_MS) are used. Throws only when the store is unreachable. */
  checkTicket(question: TicketQuestion): Promise<CheckedTicket>;
}

export type TicketQuestion = RequestOf<'ticket'>;

export type CheckedTicket =
  | { readonly kind: 'answered'; readonly hasActiveTicket: boolean }
  /** The service rejected or forbids the request: a person must decide. */
  | { readonly kind: 'refused'; readonly message: string }
  /** No answer now; `exchange` is the cause. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number; readonly exchange: Exchange };

/** An answer and when the service gave it (ms since the epoch), or why there is none. */
export type LookupAnswer<T> =
  | { readonly kind: 'answered'; readonly data: T; readonly checkedAtMs: number }
  | { readonly kind: 'not_answered'; readonly because: NoAnswer };

export interface LookupTools {
  readonly service: ServicePort;
  readonly cache: LookupCache;
  readonly clock: Clock;
  /** Called once per call whose answer differs from its contract. */
  readonly observeDifference?: (seen: SeenDifference) => void;
}

/** The longest total wait for a permit; after that the caller gets a time to come back. */
const PERMIT_WAIT_MS = 5000;
const BUSY_RETRY_MS = 1000;

type LookupCall = CallResult<'capacity'> | CallResult<'ticket'>;
interface Inquiry {
  readonly operation: OperationName;
  readonly question: Question;
  readonly fields: readonly string[];
  readonly call: (options: CallOptions) => Promise<LookupCall>;
}

export function createLookups({ service, cache, clock, observeDifference }: LookupTools): Lookups {
  const ask = async ({ operation, fields, call }: Inquiry, waitedMs: number): Promise<LookupOutcome> => {
    const result = await call({ permitWaitMs: Math.max(0, PERMIT_WAIT_MS - waitedMs) });
    const difference = differenceOfAnswer(operation, result);
    if (difference) observeDifference?.(difference);
    const { exchange, data } = result;
    const nowMs = clock.nowMs();
    if (exchange.kind !== 'accepted') return notAnswered(noAnswerAfter(exchange, fields, nowMs));
    // A number that is too large for JSON passes the contract but cannot be cached.
    const kept = jsonObject.safeParse(data);
    return kept.success ? { kind: 'answered', answer: { data: kept.data, checkedAtMs: nowMs } } : broken(nowMs);
  };

  const find = async <T>(inquiry: Inquiry, contract: AnswerSchema<T>): Promise<LookupAnswer<T>> => {
    const outcome = await cache.once(inquiry.question, (waitedMs) => ask(inquiry, waitedMs));
    if (outcome.kind === 'busy') return notAnswered(busy(clock.nowMs()));
    if (outcome.kind === 'not_answered') return outcome;
    const { data, checkedAtMs } = outcome.answer;
    const read = contract.safeParse(data);
    return read.success ? { kind: 'answered', data: read.data, checkedAtMs } : broken(clock.nowMs());
  };

  const lookups: Lookups = {
    async capacity(zoneId) {
      const call = async (options: CallOptions) =>
        aboutThisZone(zoneId, await service.call('capacity', { zoneId }, options));
      const inquiry = { operation: 'capacity', question: ['capacity', zoneId], fields: ['zoneId'], call } as const;
      return find(inquiry, OPERATIONS.capacity.answer);
    },
    async ticket(question) {
      const { zoneId, plateNumber, plateType } = question;
      const inquiry = {
        operation: 'ticket',
        question: ['ticket', zoneId, plateNumber, plateType],
        fields: ['zoneId', 'plateNumber', 'plateType'],
        call: (options: CallOptions) => service.call('ticket', { zoneId, plateNumber, plateType }, options),
      } as const;
      return find(inquiry, OPERATIONS.ticket.answer);
    },
    async checkTicket(question) {
      const found = await lookups.ticket(question);
      if (found.kind === 'answered') return { kind: 'answered', hasActiveTicket: found.data.hasActiveTicket };
      const { because } = found;
      if (because.why === 'refused') return { kind: 'refused', message: because.message };
      if (because.why === 'forbidden') return { kind: 'refused', message: forbiddenMessage(because.exchange) };
      return { kind: 'unavailable', retryAfterMs: because.retryAfterMs, exchange: because.exchange };
    },
  };
  return lookups;
}

/** The message of a 403, which may be empty. */
function forbiddenMessage(exchange: Exchange): string {
  return (exchange.kind === 'refused' ? exchange.message : null) ?? 'The service forbids the question (HTTP 403).';
}

interface AnswerSchema<T> {
  safeParse(data: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

function notAnswered(because: NoAnswer): { readonly kind: 'not_answered'; readonly because: NoAnswer } {
  return { kind: 'not_answered', because };
}

/** The result when another process has not answered within the longest wait. */
function busy(nowMs: number): NoAnswer {
  const exchange = { kind: 'dropped', cause: 'asked_by_another', notBeforeMs: nowMs + BUSY_RETRY_MS } as const;
  return { why: 'unavailable', retryAfterMs: BUSY_RETRY_MS, exchange };
}

function broken(nowMs: number) {
  const exchange = { kind: 'contract_broken', httpStatus: 200, issues: ['data: cannot be kept'] } as const;
  return notAnswered(noAnswerAfter(exchange, [], nowMs));
}

/** An answer about another zone breaks the contract. */
function aboutThisZone(zoneId: string, call: CallResult<'capacity'>): CallResult<'capacity'> {
  return brokenIf((data) => data?.zoneId.toLowerCase() !== zoneId.toLowerCase(), 'zoneId: names another zone', call);
}

/** The cache of lookups at the service: it keeps answers and lets one process ask at a time. */

/** The parts of a question in a fixed order. It may contain a plate, so only its hash is stored. */
export type Question = readonly string[];

/** An answer, and when the service gave it (ms since the epoch). */
export interface KeptAnswer {
  readonly data: JsonObject;
  readonly checkedAtMs: number;
}

/**
 * Why a lookup has no answer.
 *
 * - refused: the service rejected the request; another try changes nothing.
 * - budget_spent: the rate limit has no permit; nothing was sent.
 * - connection_lost: no token, a refused token or a wrong address.
 * - forbidden: the service does not permit this operator to ask (403).
 * - unavailable: the service failed, was unreachable or throttled the call, or the call was not sent for another reason.
 * - answer_broken: the answer breaks the contract.
 */
export type NoAnswer =
  | {
      readonly why: 'refused';
      /** The message of the service, if it sent one. */
      readonly message: string;
      /** The wire name of the field it is about; null when unknown. */
      readonly field: string | null;
    }
  | {
      readonly why: 'budget_spent' | 'connection_lost' | 'forbidden' | 'unavailable' | 'answer_broken';
      /** When another try is useful, ms from now. */
      readonly retryAfterMs: number;
      readonly exchange: Exchange;
    };

export type LookupOutcome =
  | { readonly kind: 'answered'; readonly answer: KeptAnswer }
  | { readonly kind: 'not_answered'; readonly because: NoAnswer };

export interface LookupCache {
  /**
   * Returns a cached answer, else the result of the same question in flight in any process, else the result of `ask`,
   * which gets the time already waited. Only good answers are cached. A failure is shared with those waiting in this
   * process. `busy`: another process did not answer in time.
   */
  once(
    question: Question,
    ask: (waitedMs: number) => Promise<LookupOutcome>,
  ): Promise<LookupOutcome | { readonly kind: 'busy' }>;
}

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
function noAnswerAfter(exchange: FailedExchange, fields: readonly string[], nowMs: number): NoAnswer {
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
