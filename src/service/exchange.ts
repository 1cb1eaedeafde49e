import { KEPT_ANSWER_BYTES_MAX } from '../contracts/service';
import { notBeforeMs } from '../domain/backoff';
import type { Exchange, ForeignBody } from '../domain/policy';
import { readAnswer, readJson, type Body, type Contract } from './read-answer';
import { refusalMessage } from './refusal-message';
import { TransportFailure } from './transport-failure';
import type { Received } from './transport';

/** One attempt as the transport left it: a status with its body, or a failure without one. */
export type Outcome = Arrived | TransportFailure;

export interface Arrived {
  readonly status: number;
  readonly received: Received;
  readonly contentType: string | undefined;
  readonly retryAfter: string | undefined;
  readonly rateLimitReset: string | undefined;
}

/** An attempt in the words of the failure policy. */
export interface Classified<T> {
  readonly exchange: Exchange;
  readonly data: T | null;
  readonly rawBody: string | null;
}

/** Says what an attempt came to, in the words of the failure policy (domain/policy.ts). */
export function classify<T>(contract: Contract<T>, outcome: Outcome, nowMs: number): Classified<T> {
  if (outcome instanceof TransportFailure) return { exchange: failed(outcome), data: null, rawBody: null };
  const { status, received } = outcome;
  const rawBody = received.text === '' ? null : cut(received.text);
  if (status < 200 || status > 299) return { exchange: refused(outcome, nowMs), data: null, rawBody };
  const body = readJson(received.text);
  const foreign = foreignBody(received, body);
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
function foreignBody({ ended }: Received, { text, isJson, value }: Body): ForeignBody | null {
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

/** Text that is neither JSON nor a page is the service speaking plainly. */
function plainWords({ text, ended }: Received): string | null {
  return ended !== 'complete' || /^\s*[<{[]/.test(text) ? null : text;
}

function refused(outcome: Arrived, nowMs: number): Refused {
  const { status, received, retryAfter } = outcome;
  const { isJson, value } = readJson(received.text);
  return {
    kind: 'refused',
    httpStatus: status,
    message: refusalMessage(isJson ? value : plainWords(received)),
    // A body that broke off parses as nothing; what it was going to be is what its header says.
    isJson: received.ended === 'complete' ? isJson : /json/i.test(outcome.contentType ?? ''),
    // Services tell their limits with every answer; only a 429 says that the limit is why.
    notBeforeMs: notBeforeMs(
      { retryAfter, rateLimitReset: status === 429 ? outcome.rateLimitReset : undefined },
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
