import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import type { FieldRule } from '../domain/refusal';
import type { DeliveryKind } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config/config';
import { errorFacts } from '../platform/errors';
import type { Log } from '../platform/log/log';
import { throttledLog } from '../platform/log/log-throttle';
import { sourceOf } from '../platform/connections';
import { sendJson } from '../platform/http';
import type { Tracing } from '../platform/log/tracing';
import type { CallCounter, Intake } from '../workflow/ports';
import { withoutForeignNames } from './refused-calls';
import { kindOfPath, namesTow, readCall, readObject, type BrokenCall } from './read-call';
import { recordAnswer, type AnsweredCall, type AnswerRecorder } from './record-answer';
import { verify, type VerifySettings } from './verify';

export interface ReceiverOptions extends AnswerRecorder {
  readonly intake: Intake;
  /** The secrets may be replaced while the receiver runs. */
  readonly verify: () => Readonly<Record<DeliveryKind, VerifySettings>>;
  readonly bodyLimitBytes: number;
  /** Calls per source and minute; 0 = unlimited. */
  readonly ratePerMinute: number;
  readonly callCounter: CallCounter;
  readonly trustProxy: TrustProxy;
  /** Notes a proxy that is not trusted. */
  readonly proxyNote: RequestHandler;
  readonly tracing: Tracing;
  readonly clock: Clock;
  readonly log: Log;
  /** Throttled: for failures of every call while Redis is in trouble. */
  readonly troubleLog: Log;
}

const METHOD_NOT_ALLOWED = { code: 'method_not_allowed', message: 'A webhook is sent with POST.' };

/** How many wrong signatures are examined per second, so that forged calls cost genuine ones little. */
const DIAGNOSES_PER_SECOND = 5;

const RETRY_AFTER_SECONDS = 2;
/** Longer paths are cut where they are kept. */
const PATH_LENGTH_MAX = 200;

/**
 * The webhook receiver as an Express application. Its answers, and whether the sender repeats the call:
 *
 * - 200 `accepted` or `already_known`: stored, now or before. Not repeated.
 * - 200 `not_for_towhook`: a JSON object on another path, or one without any field of the contract, kept in a bounded
 *   list. Not repeated. One that names a tow opens a task.
 * - 400 `not_json` or `contract_broken`: not a JSON object, or fields of the contract but no tow. Repeated, which is
 *   harmless.
 * - 400 `not_readable`: the path cannot be decoded, or the body ended early. Repeated.
 * - 401: a secret is configured, and the signature, its timestamp or its header is wrong. Repeated.
 * - 404: another method than POST, or another content type than JSON, on another path. Only a POST counts as refused.
 * - 405: another method than POST on the path of a webhook. Not counted as refused.
 * - 413, 415, 429: too large, not application/json or compressed, above the rate limit of the source. Repeated.
 * - 503 with Retry-After: Redis has not stored the call within 2 s. Repeated.
 *
 * A 200 is sent only after one script has stored and scheduled the delivery. That script hands a delivery that comes alone
 * to a worker at once; a scheduler adds the jobs of others.
 */
export function createReceiver(given: ReceiverOptions) {
  const { clock, log } = given;
  const refusedLog = throttledLog(log, { clock, by: ['outcome', 'source'] });
  const options = { ...given, refusedLog, mayDiagnose: perSecond(DIAGNOSES_PER_SECOND, clock) };
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', options.trustProxy);
  app.use(options.proxyNote);
  if (options.ratePerMinute > 0) app.use(sourceRate(options));
  // Raw and not decompressed, because a signature covers the bytes that were sent.
  const readBody = express.raw({ type: () => true, limit: options.bodyLimitBytes, inflate: false });
  app.post('/{*path}', requireJson(options), readBody, (request, response) => receive(request, response, options));
  app.use((request, response) => {
    // A POST to the path of a webhook does not come here.
    const isOtherMethod = kindOfPath(request.path) !== null;
    const httpStatus = isOtherMethod ? 405 : 404;
    if (isOtherMethod) response.set('allow', 'POST');
    answer(response, httpStatus, isOtherMethod ? METHOD_NOT_ALLOWED : NO_SUCH_ADDRESS);
    recordAnswer(request, { httpStatus, outcome: 'address' }, options);
  });
  app.use(answerError(options));
  return app;
}

interface Receiving extends ReceiverOptions {
  /** One line per outcome and source, with the count of those left out. */
  readonly refusedLog: Log;
  readonly mayDiagnose: () => boolean;
}

/** Returns true for the first calls of each second. */
function perSecond(most: number, clock: Clock): () => boolean {
  let second = 0;
  let count = 0;
  return () => {
    const now = Math.floor(clock.monotonicMs() / 1000);
    count = now === second ? count + 1 : 1;
    second = now;
    return count <= most;
  };
}

async function receive(request: Request, response: Response, options: Receiving) {
  const startedMs = options.clock.monotonicMs();
  const kind = kindOfPath(request.path) ?? 'other';
  const verdict = await judgeCall(kind, request, options);
  if (verdict.httpStatus === 503) response.set('retry-after', String(RETRY_AFTER_SECONDS));
  answer(response, verdict.httpStatus, verdict);
  recordAnswer(request, verdict, options);
  const answered = {
    kind,
    http_status: verdict.httpStatus,
    code: verdict.code,
    duration_ms: Math.round(options.clock.monotonicMs() - startedMs),
    ...verdict.logged,
  };
  if (verdict.httpStatus === 200) options.log.info('delivery.answered', answered);
  // Every call fails in the same way while Redis is in trouble.
  else if (verdict.httpStatus === 503) options.troubleLog.warn('delivery.answered', answered);
  else {
    const cause = { outcome: verdict.outcome, source: sourceOf(request.ip) };
    options.refusedLog.warn('delivery.answered', { ...answered, ...cause });
  }
  if (verdict.towingReferenceId !== undefined) {
    options.tracing.ended({
      subject: { kind: 'tow', id: verdict.towingReferenceId },
      name: `receive ${kind}`,
      place: kind === 'tow_request' && verdict.code === 'accepted' ? 'first' : 'later',
      kind: 'received',
      endedAtMs: options.clock.nowMs(),
      durationMs: options.clock.monotonicMs() - startedMs,
      isFailed: verdict.httpStatus !== 200,
      attributes: { http_status: verdict.httpStatus, code: verdict.code },
    });
  }
}

interface WebhookAnswer extends AnsweredCall {
  readonly httpStatus: 200 | 400 | 401 | 503;
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly FieldRule[];
  /** Of a call that names a tow. */
  readonly towingReferenceId?: string;
  readonly logged?: Readonly<Record<string, unknown>>;
}

async function judgeCall(kind: DeliveryKind | 'other', request: Request, options: Receiving): Promise<WebhookAnswer> {
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const arrived = { rawBody, headers: request.headers, nowMs: options.clock.nowMs() };
  const secrets = options.verify();
  const verification = verify(arrived, kind === 'other' ? ofEither(secrets) : secrets[kind], options.mayDiagnose);
  if (verification.kind === 'rejected') {
    const { reason: outcome, why, behindSeconds } = verification;
    return { httpStatus: 401, code: 'not_verified', outcome, message: why, behindSeconds, logged: { why } };
  }
  const path = request.path.slice(0, PATH_LENGTH_MAX);
  const verified = verification.kind === 'verified';
  if (kind === 'other') return keepOther(rawBody, { path, verified }, options);
  const { signatureId, signedAtMs } = verification;
  const call = readCall(kind, rawBody, { verified, signatureId, signedAtMs });
  if (call.kind === 'broken') return refuse(call);
  if (call.kind === 'foreign') return keepOther(rawBody, { path, verified }, options);
  const { delivery } = call;
  const { towingReferenceId } = delivery;
  const logged = { delivery_id: delivery.id, towing_reference_id: towingReferenceId };
  try {
    const code = await options.intake.accept(delivery);
    if (code === 'accepted') {
      options.metrics.deliveryAccepted(kind);
    }
    return {
      httpStatus: 200,
      code,
      outcome: 'accepted',
      towingReferenceId,
      logged: { verified: delivery.verified, ...logged },
    };
  } catch (error) {
    return { ...notStored(error, logged), towingReferenceId };
  }
}

/** Keeps a call of a kind that towhook does nothing with. Its sender has nothing to correct, so it gets 200. */
async function keepOther(
  bytes: Buffer,
  { path, verified }: { readonly path: string; readonly verified: boolean },
  options: ReceiverOptions,
): Promise<WebhookAnswer> {
  const received = readObject(bytes);
  if (received.kind === 'broken') return refuse(received);
  try {
    await options.intake.keepOther({ path, verified, rawBody: received.rawBody, namesTow: namesTow(received) });
    return { httpStatus: 200, code: 'not_for_towhook', outcome: 'not_for_towhook', logged: { verified } };
  } catch (error) {
    return notStored(error, {});
  }
}

function notStored(error: unknown, logged: Readonly<Record<string, unknown>>): WebhookAnswer {
  const message = 'The call could not be stored; please send it again.';
  return {
    httpStatus: 503,
    code: 'not_stored',
    outcome: 'not_stored',
    message,
    logged: { ...logged, ...errorFacts(error), stack: undefined },
  };
}

/** The service signs calls on other paths with the secret of one of the two webhooks. */
function ofEither(secrets: Readonly<Record<DeliveryKind, VerifySettings>>): VerifySettings {
  const { tow_request: one, tow_invoice: other } = secrets;
  return { secrets: [...one.secrets, ...other.secrets], sharedSecret: one.sharedSecret ?? other.sharedSecret };
}

function refuse({ code, details }: BrokenCall): WebhookAnswer {
  const message = details.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
  const logged = { details: withoutForeignNames(details) };
  return { httpStatus: 400, code, outcome: code, message, details, logged };
}

/** Lets JSON pass. Other content is refused on the paths of the webhooks, and unknown on all others. */
function requireJson(recorder: AnswerRecorder): RequestHandler {
  return (request, response, next) => {
    const { 'content-type': type, 'content-length': length } = request.headers;
    // Fast path for the usual header.
    if (type === 'application/json' && length !== undefined) return next();
    if (request.is('application/json') === 'application/json') return next();
    if (kindOfPath(request.path) === null) return next('route');
    answer(response, 415, { code: 'not_json', message: 'The content type must be application/json.' });
    recordAnswer(request, { httpStatus: 415, outcome: 'content_type' }, recorder);
  };
}

function sourceRate(options: ReceiverOptions): RequestHandler {
  const { ratePerMinute, callCounter } = options;
  return async (request, response, next) => {
    const { calls, windowEndsInMs } = await callCounter.count(sourceOf(request.ip));
    const resetSeconds = Math.ceil(windowEndsInMs / 1000);
    response.set({
      'ratelimit-policy': `"source";q=${ratePerMinute};w=60`,
      ratelimit: `"source";r=${Math.max(0, ratePerMinute - calls)};t=${resetSeconds}`,
    });
    if (calls <= ratePerMinute) {
      next();
      return;
    }
    response.set('retry-after', String(resetSeconds));
    answer(response, 429, { code: 'too_many_calls', message: 'Too many calls from this source.' });
    recordAnswer(request, { httpStatus: 429, outcome: 'too_many' }, options);
  };
}

function answerError(options: ReceiverOptions): ErrorRequestHandler {
  return (error: unknown, request, response, _next) => {
    const httpStatus = statusOf(error);
    if (httpStatus === 413) {
      answer(response, 413, { code: 'too_large', message: 'The body is larger than this address takes.' });
      recordAnswer(request, { httpStatus, outcome: 'too_large' }, options);
    } else if (httpStatus === 415) {
      answer(response, 415, { code: 'encoding_not_supported', message: 'The body must not be compressed.' });
      recordAnswer(request, { httpStatus, outcome: 'compressed' }, options);
    } else if (error instanceof URIError) {
      answer(response, 400, { code: 'not_readable', message: 'The path contains an invalid percent-encoding.' });
      recordAnswer(request, { httpStatus: 400, outcome: 'address' }, options);
    } else if (httpStatus !== null && httpStatus < 500) {
      answer(response, 400, { code: 'not_readable', message: 'The body could not be read to its end.' });
      recordAnswer(request, { httpStatus: 400, outcome: 'unreadable' }, options);
    } else {
      options.troubleLog.error('receiver.failed', errorFacts(error));
      response.set('retry-after', String(RETRY_AFTER_SECONDS));
      answer(response, 503, { code: 'not_stored', message: 'The call could not be stored; please send it again.' });
      recordAnswer(request, { httpStatus: 503, outcome: 'not_stored' }, options);
    }
  };
}

function statusOf(error: unknown): number | null {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : null;
}

function answer(
  response: Response,
  httpStatus: number,
  { code, message = '', details = [] }: { code: string; message?: string; details?: readonly FieldRule[] },
) {
  // Open question Q10: the expected answer to a webhook is not documented; we send 200 with a short JSON body.
  sendJson(response, httpStatus, httpStatus === 200 ? { code } : { code, message, details });
}
