import type { ErrorRequestHandler, Request, Response } from 'express';
import type { FieldRule, Refusal } from '../domain/refusal';
import { errorFacts, type Log } from '../platform/log';
import { answerWhileSending, isBodyUnderWay } from './early-answer';

/** The one table of what the API answers when it says no (design, "Outside face"). */
const STATUS_OF_REFUSAL = { conflict: 409, invalid: 422, forbidden: 403, unknown: 404 } as const;

export interface ErrorBody {
  readonly code: string;
  readonly message: string;
  readonly details?: readonly FieldRule[];
}

export function sendError(response: Response, httpStatus: number, error: ErrorBody): void {
  const body = { code: error.code, message: error.message, details: error.details ?? [] };
  response.status(httpStatus);
  if (isBodyUnderWay(response.req)) answerWhileSending(response, body);
  else response.json(body);
}

/** Something beyond the API stands in the way: the service, or what it was asked. */
export interface Problem {
  readonly httpStatus: number;
  readonly error: ErrorBody;
  /** When to come back, ms from now; null where coming back changes nothing. */
  readonly retryAfterMs: number | null;
}

export function sendProblem(response: Response, { httpStatus, error, retryAfterMs }: Problem): void {
  if (retryAfterMs !== null) response.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  sendError(response, httpStatus, error);
}

/** A rule that forbids what was asked. */
export function sendRefusal(response: Response, refusal: Refusal): void {
  sendError(response, STATUS_OF_REFUSAL[refusal.kind], refusal);
}

/** Fields of a body or a query that fail their rules; all of them are named. */
export function sendInvalid(response: Response, details: readonly FieldRule[]): void {
  const message = details.map(({ field, rule }) => `${field}: ${rule}`).join('; ');
  sendError(response, 422, { code: 'field_invalid', message, details });
}

/** The route of a request by its pattern, which stands for its address: a query may carry a plate. */
export function routeOf(request: Request): { method: string; path: unknown } {
  const route: unknown = request.route;
  const path = typeof route === 'object' && route !== null && 'path' in route ? route.path : '(none)';
  return { method: request.method, path };
}

/**
 * Whatever no route answered for: a body that cannot be read, or a fault of ours. The log is throttled: without Redis
 * every request fails.
 */
export function answerError(log: Log): ErrorRequestHandler {
  return (error: unknown, request, response, next) => {
    if (response.headersSent) return next(error);
    const httpStatus = error instanceof Error && 'status' in error ? error.status : null;
    if (httpStatus === 413) {
      sendError(response, 413, { code: 'too_large', message: 'The body is larger than this address takes.' });
    } else if (typeof httpStatus === 'number' && httpStatus < 500) {
      const details = [{ field: 'body', rule: 'must be JSON' }];
      sendError(response, 400, { code: 'not_json', message: 'The body is not JSON.', details });
    } else {
      log.error('api.failed', { ...routeOf(request), ...errorFacts(error) });
      response.set('retry-after', '2');
      sendError(response, 503, {
        code: 'unavailable',
        message:
          'The request could not be carried out, or its outcome could not be confirmed. Repeat it under an Idempotency-Key.',
      });
    }
  };
}
