import { KEPT_ANSWER_BYTES_MAX } from '../contracts/service';
import { notBeforeMs } from '../domain/backoff';
import type { Exchange, ForeignBody } from '../domain/policy';
import type { Answer } from './attempt';
import { readAnswer, readJson, refusalMessage, type Body, type Contract } from './read-answer';
import { TransportFailure } from './transport-failure';

/** How an attempt ended: a status with its body, or a failure without one. */
export type Outcome = Answer | TransportFailure;

/** An attempt in the terms of the failure policy. */
export interface Classified<T> {
  readonly exchange: Exchange;
  readonly data: T | null;
  readonly rawBody: string | null;
}

/** Classifies the end of an attempt in the terms of the failure policy (domain/policy.ts). */
export function classify<T>(contract: Contract<T>, outcome: Outcome, nowMs: number): Classified<T> {
  if (outcome instanceof TransportFailure) return { exchange: failed(outcome), data: null, rawBody: null };
  const { status, text } = outcome;
  const rawBody = text === '' ? null : cut(text);
  if (status < 200 || status > 299) return { exchange: refused(outcome, nowMs), data: null, rawBody };
  const body = readJson(text);
  const foreign = foreignBody(outcome, body);
  if (foreign)
    return { exchange: { kind: 'not_the_service', httpStatus: status, cause: foreign }, data: null, rawBody };
  const reading = readAnswer(contract, body);
  return reading.kept
    ? { exchange: { kind: 'accepted', httpStatus: status }, data: reading.data, rawBody }
    : { exchange: { kind: 'contract_broken', httpStatus: status, issues: reading.issues }, data: null, rawBody };
}

/**
 * Why the body of a 2xx is not the service's; null when it may be. The service promises a JSON object and no content type
 * (service-api 1): a JSON object of any content type is taken for its answer, anything else is not. An empty body
 * says nothing against the service: it breaks the contract.
 */
function foreignBody({ ended }: Answer, { text, isJson, value }: Body): ForeignBody | null {
  if (ended !== 'complete') return ended;
  if (text.trim() === '') return null;
  if (!isJson) return 'not_json';
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'not_an_object';
}

/** True unless the attempt surely ended before the first byte of the request. */
export function mayHaveLeft(outcome: Outcome): boolean {
  return !(outcome instanceof TransportFailure) || outcome.phase === 'unanswered';
}

function failed(failure: TransportFailure): Exchange {
  switch (failure.phase) {
    case 'dropped':
      return { kind: 'dropped', notBeforeMs: failure.notBeforeMs };
    case 'surely_not_sent':
    case 'unanswered':
      return { kind: failure.phase, cause: failure.reason };
  }
}

/** Text that is neither JSON nor a page is a plain message of the service. */
function plainText({ text, ended }: Answer): string | null {
  return ended !== 'complete' || /^\s*[<{[]/.test(text) ? null : text;
}

function refused(answer: Answer, nowMs: number): Refused {
  const { status, headers } = answer;
  const { isJson, value } = readJson(answer.text);
  const rateLimitReset = headers['x-ratelimit-reset'];
  return {
    kind: 'refused',
    httpStatus: status,
    message: refusalMessage(isJson ? value : plainText(answer)),
    // A body that broke off cannot be parsed; its content type tells what it was meant to be.
    isJson: answer.ended === 'complete' ? isJson : /json/i.test(headers['content-type'] ?? ''),
    // Services send their limits with every answer; only a 429 was caused by one.
    notBeforeMs: notBeforeMs(
      {
        retryAfter: headers['retry-after'],
        rateLimitReset: status === 429 && typeof rateLimitReset === 'string' ? rateLimitReset : undefined,
      },
      nowMs,
    ),
  };
}

function cut(text: string): string {
  // No character takes more than three bytes per code unit, so most bodies need not be measured.
  if (text.length * 3 <= KEPT_ANSWER_BYTES_MAX) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= KEPT_ANSWER_BYTES_MAX) return text;
  // Never inside a character.
  let end = KEPT_ANSWER_BYTES_MAX;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end).toString();
}

type Refused = Extract<Exchange, { kind: 'refused' }>;

/** True when the service refused the token. */
export function isUnauthorized(exchange: Exchange): exchange is Refused {
  return exchange.kind === 'refused' && exchange.httpStatus === 401;
}

/** The status that arrived, null when none did. */
export function httpStatusOf(exchange: Exchange): number | null {
  return 'httpStatus' in exchange ? exchange.httpStatus : null;
}
