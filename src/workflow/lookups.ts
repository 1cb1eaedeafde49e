import { jsonObject } from '../contracts/common';
import { OPERATIONS, type AnswerOf, type RequestOf } from '../contracts/operations';
import type { Exchange } from '../domain/policy';
import type { Clock } from '../platform/clock';
import { noAnswerAfter } from './lookup-failure';
import type { Asked, LookupCache, NoAnswer, Question } from './lookup-port';
import type { CallOptions, CallResult, ServicePort } from './service-port';

/**
 * What can be asked of the service right now (service-api 4.5): the free slots of a zone, and whether a vehicle has an
 * active ticket. An answer serves everybody who asks the same for a short while, and nobody asks while somebody does.
 * People's questions and the worker's are alike: a failure is told to whoever asked, and holds no sending.
 */
export interface Lookups extends TicketCheck {
  capacity(zoneId: string): Promise<Found<AnswerOf<'capacity'>>>;
  ticket(question: TicketQuestion): Promise<Found<AnswerOf<'ticket'>>>;
}

/** The check before a fine. */
export interface TicketCheck {
  /** The answer may be as old as answers are kept (LOOKUP_CACHE_MS). Throws only when the store cannot be reached. */
  checkTicket(question: TicketQuestion): Promise<CheckedTicket>;
}

export type TicketQuestion = RequestOf<'ticket'>;

export type CheckedTicket =
  | { readonly kind: 'answered'; readonly hasActiveTicket: boolean }
  /** The service takes exception to the question or forbids it, in its own words: a person must look. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Nobody can say now; `exchange` tells what happened. */
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number; readonly exchange: Exchange };

/** An answer and when the service gave it (ms since the epoch), or why there is none. */
export type Found<T> =
  | { readonly kind: 'answered'; readonly data: T; readonly checkedAtMs: number }
  | { readonly kind: 'not_answered'; readonly because: NoAnswer };

export interface LookupTools {
  readonly service: ServicePort;
  readonly cache: LookupCache;
  readonly clock: Clock;
}

/** How long a slot of the budget is waited for in all; whoever asked would rather be told when to come back. */
const SLOT_WAIT_MS = 5000;
const BUSY_RETRY_MS = 1000;

type Answer = CallResult<'capacity'> | CallResult<'ticket'>;
interface Inquiry {
  readonly question: Question;
  readonly fields: readonly string[];
  readonly call: (options: CallOptions) => Promise<Answer>;
}

export function createLookups({ service, cache, clock }: LookupTools): Lookups {
  const ask = async ({ fields, call }: Inquiry, waitedMs: number): Promise<Asked> => {
    const { exchange, data } = await call({ slotWaitMs: Math.max(0, SLOT_WAIT_MS - waitedMs) });
    const nowMs = clock.nowMs();
    if (exchange.kind !== 'accepted') return notAnswered(noAnswerAfter(exchange, fields, nowMs));
    // A number too large for JSON passes the contract and cannot be kept.
    const kept = jsonObject.safeParse(data);
    return kept.success ? { kind: 'answered', answer: { data: kept.data, checkedAtMs: nowMs } } : broken(nowMs);
  };

  const find = async <T>(inquiry: Inquiry, contract: Contract<T>): Promise<Found<T>> => {
    const asked = await cache.once(inquiry.question, (waitedMs) => ask(inquiry, waitedMs));
    if (asked.kind === 'busy') return notAnswered(busy(clock.nowMs()));
    if (asked.kind === 'not_answered') return asked;
    const { data, checkedAtMs } = asked.answer;
    const read = contract.safeParse(data);
    return read.success ? { kind: 'answered', data: read.data, checkedAtMs } : broken(clock.nowMs());
  };

  const lookups: Lookups = {
    async capacity(zoneId) {
      const call = async (options: CallOptions) =>
        aboutThisZone(zoneId, await service.call('capacity', { zoneId }, options));
      const inquiry = { question: ['capacity', zoneId], fields: ['zoneId'], call };
      return find(inquiry, OPERATIONS.capacity.answer);
    },
    async ticket(question) {
      const { zoneId, plateNumber, plateType } = question;
      const inquiry = {
        question: ['ticket', zoneId, plateNumber, plateType],
        fields: ['zoneId', 'plateNumber', 'plateType'],
        call: (options: CallOptions) => service.call('ticket', { zoneId, plateNumber, plateType }, options),
      };
      return find(inquiry, OPERATIONS.ticket.answer);
    },
    async checkTicket(question) {
      const found = await lookups.ticket(question);
      if (found.kind === 'answered') return { kind: 'answered', hasActiveTicket: found.data.hasActiveTicket };
      const { because } = found;
      if (because.why === 'refused') return { kind: 'refused', message: because.message };
      if (because.why === 'forbidden') return { kind: 'refused', message: wordsOf(because.exchange) };
      return { kind: 'unavailable', retryAfterMs: because.retryAfterMs, exchange: because.exchange };
    },
  };
  return lookups;
}

/** Why the service forbids a question; it may forbid without a word. */
function wordsOf(exchange: Exchange): string {
  return (exchange.kind === 'refused' ? exchange.message : null) ?? 'The service forbids the question (HTTP 403).';
}

interface Contract<T> {
  safeParse(data: unknown): { readonly success: true; readonly data: T } | { readonly success: false };
}

function notAnswered(because: NoAnswer): { readonly kind: 'not_answered'; readonly because: NoAnswer } {
  return { kind: 'not_answered', because };
}

/** Somebody else has been asking for longer than anybody waits. */
function busy(nowMs: number): NoAnswer {
  const exchange = { kind: 'dropped', notBeforeMs: nowMs + BUSY_RETRY_MS } as const;
  return { why: 'unavailable', retryAfterMs: BUSY_RETRY_MS, exchange };
}

function broken(nowMs: number) {
  const exchange = { kind: 'contract_broken', httpStatus: 200, issues: ['data: cannot be kept'] } as const;
  return notAnswered(noAnswerAfter(exchange, [], nowMs));
}

/** An answer about another zone breaks the contract, whatever else it says. */
function aboutThisZone(zoneId: string, call: CallResult<'capacity'>): CallResult<'capacity'> {
  const { exchange, data } = call;
  if (exchange.kind !== 'accepted' || data?.zoneId.toLowerCase() === zoneId.toLowerCase()) return call;
  const issues = ['zoneId: names another zone'];
  return { ...call, data: null, exchange: { kind: 'contract_broken', httpStatus: exchange.httpStatus, issues } };
}
