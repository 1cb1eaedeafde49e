import { KEPT_ANSWER_BYTES_MAX } from '../contracts/service/service';
import { notBeforeMs } from '../domain/outbox/backoff';
import { foreignBodyMessage } from '../domain/outbox/exchange-message';
import { isUnreadableEncoding, type Exchange, type ForeignBody, type RefusedExchange } from '../domain/service/policy';
import type { HttpAnswer } from './attempt';
import { readAnswer, answerBodyOf, refusalCode, type AnswerBody, type Contract } from './read-answer';
import { TransportFailure } from './transport-failure';

const MESSAGE_LENGTH_MAX = 500;
/** How deep a message is searched; the deepest known is `{ error: { errors: [ { message } ] } }`. */
const MESSAGE_DEPTH_MAX = 4;
/**
 * Where services put their messages, best first.
 * Open question Q6: the shape of an error body is not documented (docs/service-api.md#errors); the first message found
 * counts.
 */
const MESSAGE_FIELDS = ['message', 'error', 'error_description', 'detail', 'title', 'errors', 'data'] as const;

/** The result of an attempt: a status with its body, or a failure without a status. */
export type TransportOutcome = HttpAnswer | TransportFailure;

/** The result of an attempt in the terms of the failure policy. */
export interface Classified<T> {
  readonly exchange: Exchange;
  readonly data: T | null;
  readonly rawBody: string | null;
}

/** Whether a 2xx whose envelope has an error code is a refusal with that status (`SERVICE_ENVELOPE_CODE`). */
export type EnvelopeCode = 'refusal' | 'ignore';

/** Classifies the result of an attempt for the failure policy (domain/service/policy.ts). */
export function classify<T>(
  contract: Contract<T>,
  outcome: TransportOutcome,
  { nowMs, envelopeCode }: { readonly nowMs: number; readonly envelopeCode: EnvelopeCode },
): Classified<T> {
  if (outcome instanceof TransportFailure) return { exchange: failed(outcome), data: null, rawBody: null };
  const { status, text } = outcome;
  const rawBody = text === '' ? null : cut(text);
  if (status < 200 || status > 299) return { exchange: refused(outcome, nowMs), data: null, rawBody };
  const body = answerBodyOf(text);
  const foreign = foreignBody(outcome, body);
  // The status alone shows that the call took effect, and nothing of the body is needed.
  if (foreign && isUnreadableEncoding(foreign) && !contract.isAnswerUsed) {
    const issues = [`body: ${foreignBodyMessage(foreign)}`];
    return { exchange: { kind: 'contract_broken', httpStatus: status, issues }, data: null, rawBody: null };
  }
  if (foreign)
    return { exchange: { kind: 'not_the_service', httpStatus: status, cause: foreign }, data: null, rawBody };
  // Open question Q17: what a 2xx with an error code in its envelope means is not documented; we take it as a refusal.
  const code = envelopeCode === 'refusal' ? refusalCode(body) : null;
  if (code !== null) return { exchange: refused({ ...outcome, status: code }, nowMs), data: null, rawBody };
  const reading = readAnswer(contract, body);
  if (!reading.kept) {
    return { exchange: { kind: 'contract_broken', httpStatus: status, issues: reading.issues }, data: null, rawBody };
  }
  const { data, differences } = reading;
  const accepted = { kind: 'accepted', httpStatus: status } as const;
  return { exchange: differences.length === 0 ? accepted : { ...accepted, differences }, data, rawBody };
}

/**
 * Why the body of a 2xx cannot come from the service; null when it can. The service promises a JSON object and no
 * content type (docs/service-api.md#envelope), so any JSON object is accepted. An empty body only breaks the contract.
 */
function foreignBody({ ended }: HttpAnswer, { text, isJson, value }: AnswerBody): ForeignBody | null {
  if (ended === 'broken_off' || ended === 'too_long') return ended;
  if (text.trim() === '') return null;
  // JSON that was not encoded, although its header names an encoding, is read.
  if (!isJson) return ended === 'complete' ? 'not_json' : ended;
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? null : 'not_an_object';
}

/** True unless the attempt surely ended before the first byte of the request. */
export function mayHaveLeft(outcome: TransportOutcome): boolean {
  return !(outcome instanceof TransportFailure) || outcome.phase === 'partly_sent' || outcome.phase === 'unanswered';
}

function failed(failure: TransportFailure): Exchange {
  switch (failure.phase) {
    case 'dropped':
      return droppedAfter(failure);
    case 'surely_not_sent':
    case 'partly_sent':
    case 'unanswered':
      return { kind: failure.phase, cause: failure.reason };
  }
}

/** The exchange of a call without permission to send. */
export function droppedAfter({ notBeforeMs }: { readonly notBeforeMs: number | null }): Exchange {
  return { kind: 'dropped', cause: notBeforeMs === null ? 'permission_expired' : 'no_permit', notBeforeMs };
}

/** Text that is neither JSON nor HTML is a plain message of the service. */
function plainText({ text, ended }: HttpAnswer): string | null {
  return ended !== 'complete' || /^\s*[<{[]/.test(text) ? null : text;
}

function refused(answer: HttpAnswer, nowMs: number): RefusedExchange {
  const { status, headers, isPartlySent } = answer;
  const { isJson, value } = answerBodyOf(answer.text);
  const rateLimitReset = headers['x-ratelimit-reset'];
  return {
    kind: 'refused',
    httpStatus: status,
    message:
      !isJson && isUnreadableEncoding(answer.ended)
        ? foreignBodyMessage(answer.ended)
        : refusalMessageIn(isJson ? value : plainText(answer)),
    // A truncated body cannot be parsed; its content type shows what it was meant to be.
    isJson: isJson || (answer.ended !== 'complete' && /json/i.test(headers['content-type'] ?? '')),
    // Services send rate limit headers with every answer; only a 429 is caused by a limit.
    notBeforeMs: notBeforeMs(
      {
        retryAfter: headers['retry-after'],
        rateLimitReset: status === 429 && typeof rateLimitReset === 'string' ? rateLimitReset : undefined,
      },
      { nowMs, date: headers.date },
    ),
    ...(isPartlySent ? { isPartlySent } : {}),
  };
}

/**
 * The message in a refusal's JSON body, at most 500 characters, without the token if it repeats the header of the call.
 * Null when there is none.
 */
function refusalMessageIn(body: unknown): string | null {
  const message = messageIn(body, MESSAGE_DEPTH_MAX)?.replaceAll(/\bbearer\s+\S{20,}/gi, 'Bearer [hidden]');
  return message?.slice(0, MESSAGE_LENGTH_MAX).toWellFormed() ?? null;
}

function messageIn(value: unknown, depth: number): string | null {
  if (typeof value === 'string') return value.trim() === '' ? null : value.trim();
  if (typeof value !== 'object' || value === null || depth === 0) return null;
  const candidates: readonly unknown[] = Array.isArray(value) ? value : named(value);
  for (const candidate of candidates) {
    const message = messageIn(candidate, depth - 1);
    if (message !== null) return message;
  }
  return null;
}

function named(value: object): unknown[] {
  const fields = new Map<string, unknown>(Object.entries(value));
  return MESSAGE_FIELDS.map((name) => fields.get(name));
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

/** True when the service refused the token. */
export function isUnauthorized(exchange: Exchange): exchange is RefusedExchange {
  return exchange.kind === 'refused' && exchange.httpStatus === 401;
}
