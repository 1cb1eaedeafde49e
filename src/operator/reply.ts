import type { ErrorRequestHandler, Request, Response } from 'express';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import { errorFacts, type Log } from '../platform/log';
import type { ApiRefusal } from '../workflow/operator-port';
import { answerWhileSending, isBodyUnderWay } from './early-answer';
import { giveImage } from './give-image';
import { NOTHING, TOO_LARGE, type ErrorBody, type Said } from './said';

/** Answers a request with what its route says. */
export async function send(response: Response, said: Said): Promise<void> {
  switch (said.kind) {
    case 'answered':
      if (said.showsSecrets) response.set('cache-control', 'no-store');
      response.status(said.httpStatus).json(said.body);
      return;
    case 'image':
      if (!(await giveImage(response, said.image))) sendRefusal(response, NOTHING.refusal);
      return;
    case 'refused':
      return sendRefusal(response, said.refusal);
  }
}

export function sendRefusal(response: Response, refusal: ApiRefusal): void {
  const { httpStatus, retryAfterMs } = refusal;
  if (retryAfterMs !== null) response.set('retry-after', String(Math.max(1, Math.ceil(retryAfterMs / 1000))));
  sendError(response, httpStatus, refusal);
}

export function sendError(response: Response, httpStatus: number, error: ErrorBody): void {
  const body = { code: error.code, message: error.message, details: error.details ?? [] };
  response.status(httpStatus);
  if (isBodyUnderWay(response.req)) answerWhileSending(response, body);
  else response.json(body);
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
      sendRefusal(response, TOO_LARGE.refusal);
    } else if (error instanceof URIError) {
      // The address cannot be decoded, so that it names nothing.
      sendError(response, 404, NO_SUCH_ADDRESS);
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
