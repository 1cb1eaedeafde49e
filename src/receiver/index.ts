import express, { type ErrorRequestHandler, type Request, type RequestHandler, type Response } from 'express';
import { rateLimit } from 'express-rate-limit';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { invoiceCharge, WEBHOOKS } from '../contracts/webhooks';
import type { FieldRule } from '../domain/refusal';
import { DELIVERY_KINDS, type DeliveryKind } from '../domain/vocabulary';
import type { Clock } from '../platform/clock';
import type { TrustProxy } from '../platform/config';
import { errorFacts, type Log } from '../platform/log';
import type { Metrics } from '../platform/metrics';
import { sourceOf } from '../platform/source-address';
import type { Intake } from '../workflow/ports';
import { readCall } from './read-call';
import { verify, type VerifySettings } from './verify';

/**
 * The webhook receiver. What it answers, and whether the sender tries again:
 *
 * - 200 `accepted` or `already_known`: stored, now or before. No.
 * - 400: not JSON, or breaks the contract; the body is kept in quarantine. Yes, harmless.
 * - 401: a secret is configured and the signature, its time or its header is wrong. Yes.
 * - 413, 415, 429: too large, not application/json, over the source's rate. Yes.
 * - 503 with Retry-After: Redis cannot take it, within 2 s. Yes.
 *
 * Durability: a 200 is sent only after one script has stored the delivery and put it on the schedule, from which a poller
 * takes it. No job is added here.
 */
export interface ReceiverOptions {
  readonly intake: Intake;
  readonly verify: Readonly<Record<DeliveryKind, VerifySettings>>;
  readonly bodyLimitBytes: number;
  /** Calls a source may make per minute; 0 = any number. */
  readonly ratePerMinute: number;
  readonly trustProxy: TrustProxy;
  readonly clock: Clock;
  readonly log: Log;
  /** For what repeats by the thousand while Redis is in trouble. */
  readonly troubleLog: Log;
  readonly metrics: Metrics;
}

const RETRY_AFTER_SECONDS = 2;

/** The receiver as an Express application. */
export function createReceiver(options: ReceiverOptions) {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('trust proxy', options.trustProxy);
  if (options.ratePerMinute > 0) app.use(sourceRate(options.ratePerMinute));
  // Raw bytes and no inflating: a signature covers what was sent.
  const readBody = express.raw({ type: () => true, limit: options.bodyLimitBytes, inflate: false });
  for (const kind of DELIVERY_KINDS) {
    app.post(WEBHOOKS[kind].path, requireJson, readBody, (request, response) =>
      receive(kind, request, response, options),
    );
  }
  app.use((_request, response) => {
    answer(response, 404, NO_SUCH_ADDRESS);
  });
  app.use(answerError(options.log));
  return app;
}

async function receive(kind: DeliveryKind, request: Request, response: Response, options: ReceiverOptions) {
  const startedMs = options.clock.monotonicMs();
  const verdict = await judgeCall(kind, request, options);
  if (verdict.httpStatus === 503) response.set('retry-after', String(RETRY_AFTER_SECONDS));
  answer(response, verdict.httpStatus, verdict);
  options.metrics.deliveryAnswered(kind, verdict.httpStatus);
  // While Redis is in trouble every call is refused alike.
  const log = verdict.httpStatus === 503 ? options.troubleLog : options.log;
  log[verdict.httpStatus === 200 ? 'info' : 'warn']('delivery.answered', {
    kind,
    http_status: verdict.httpStatus,
    code: verdict.code,
    ...verdict.logged,
    duration_ms: Math.round(options.clock.monotonicMs() - startedMs),
  });
}

interface Verdict {
  readonly httpStatus: 200 | 400 | 401 | 503;
  readonly code: string;
  readonly message?: string;
  readonly details?: readonly FieldRule[];
  readonly logged?: Readonly<Record<string, unknown>>;
}

async function judgeCall(kind: DeliveryKind, request: Request, options: ReceiverOptions): Promise<Verdict> {
  const rawBody = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  const arrived = { rawBody, headers: request.headers, nowMs: options.clock.nowMs() };
  const verification = verify(arrived, options.verify[kind]);
  if (verification.kind === 'rejected') {
    return { httpStatus: 401, code: 'not_verified', message: verification.why, logged: { why: verification.why } };
  }
  const call = readCall(kind, rawBody, {
    verified: verification.kind === 'verified',
    signatureId: verification.signatureId,
  });
  if (call.kind === 'broken') return refuse(kind, { ...call, rawBody: rawBody.toString('utf8') }, options);
  const { delivery } = call;
  const logged = { delivery_id: delivery.id, towing_reference_id: delivery.towingReferenceId };
  try {
    const code = await options.intake.accept(delivery);
    if (code === 'accepted') {
      options.metrics.deliveryAccepted(kind);
    }
    return { httpStatus: 200, code, logged: { ...logged, verified: delivery.verified } };
  } catch (error) {
    const message = 'The call could not be stored; please send it again.';
    return {
      httpStatus: 503,
      code: 'not_stored',
      message,
      logged: { ...logged, ...errorFacts(error), stack: undefined },
    };
  }
}

async function refuse(
  kind: DeliveryKind,
  broken: { code: string; details: readonly FieldRule[]; rawBody: string },
  options: ReceiverOptions,
): Promise<Verdict> {
  const { code, details, rawBody } = broken;
  const quarantined = await options.intake.quarantine({ path: WEBHOOKS[kind].path, details, rawBody }).then(
    () => true,
    () => false,
  );
  const message = details.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
  return {
    httpStatus: 400,
    code,
    message,
    details,
    logged: { details: loggable(details), quarantined },
  };
}

/** Names of the contract itself; any other was chosen by the sender and may say anything. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  'body',
  'metadata.id',
  ...Object.values(WEBHOOKS).flatMap(({ body }) => Object.keys(body.shape)),
  ...['towing_invoice', 'delay_invoice'].flatMap((charge) =>
    Object.keys(invoiceCharge.shape).map((name) => `${charge}.${name}`),
  ),
]);

/** The rules broken, by field, without a word of the sender's. */
function loggable(details: readonly FieldRule[]): FieldRule[] {
  return details.map(({ field, rule }) => ({ field: KNOWN_FIELDS.has(field) ? field : '(not of the contract)', rule }));
}

const requireJson: RequestHandler = (request, response, next) => {
  const { 'content-type': type, 'content-length': length } = request.headers;
  // The common spelling needs no parsing.
  if (type === 'application/json' && length !== undefined) return next();
  if (request.is('application/json') === 'application/json') return next();
  answer(response, 415, { code: 'not_json', message: 'The content type must be application/json.' });
};

function sourceRate(perMinute: number): RequestHandler {
  return rateLimit({
    windowMs: 60_000,
    limit: perMinute,
    keyGenerator: ({ ip }) => sourceOf(ip),
    standardHeaders: 'draft-8',
    legacyHeaders: false,
    message: { code: 'too_many_calls', message: 'Too many calls from this source.', details: [] },
  });
}

function answerError(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, _next) => {
    const httpStatus = statusOf(error);
    if (httpStatus === 413) {
      answer(response, 413, { code: 'too_large', message: 'The body is larger than this address takes.' });
    } else if (httpStatus === 415) {
      answer(response, 415, { code: 'encoding_not_supported', message: 'The body must not be compressed.' });
    } else if (httpStatus !== null && httpStatus < 500) {
      answer(response, 400, { code: 'not_readable', message: 'The body could not be read to its end.' });
    } else {
      log.error('receiver.failed', errorFacts(error));
      response.set('retry-after', String(RETRY_AFTER_SECONDS));
      answer(response, 503, { code: 'not_stored', message: 'The call could not be stored; please send it again.' });
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
  // Open question Q10: what a webhook must be answered is not documented; any 2xx with a short JSON body is ours.
  const text = JSON.stringify(httpStatus === 200 ? { code } : { code, message, details });
  // Without the ETag, freshness and charset handling of response.json(), which no sender of webhooks uses.
  response.statusCode = httpStatus;
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}
