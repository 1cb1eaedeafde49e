import { isUtf8 } from 'node:buffer';
import express, { type Express, type Request, type Response } from 'express';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import type { Route } from '../contracts/routes/route';
import type { Endpoint, Endpoints } from './api-server';
import type { Authenticator } from './authenticate';
import { checkRole, type UncheckedCall } from './check-call';
import { identify } from './authenticate';
import { send, sendError } from './send-response';
import { JSON_BODY_BYTES_MAX } from './responses';

/**
 * Serves each endpoint over HTTP at the method and path of its route. The caller is identified and its role checked
 * before the body is read, so that a caller without the role cannot fill the disk or make this process parse.
 */
export function mountEndpoints(app: Express, endpoints: Endpoints, authenticator: Authenticator): void {
  const mount = (route: Route, endpoint: Endpoint) => {
    switch (endpoint.takes) {
      case 'json':
        app[route.method](route.path, async (request, response) => {
          const caller = await identify(request, response, authenticator);
          if (!caller) return;
          const { actor } = caller;
          const forbidden = checkRole(route, actor);
          if (forbidden) return send(response, forbidden);
          const body = await readJson(request, response);
          await send(response, await endpoint.answer({ actor, query: request.query, body, ...addressOf(request) }));
        });
        break;
      case 'form':
        app[route.method](route.path, async (request, response) => {
          const caller = await identify(request, response, authenticator);
          if (!caller) return;
          const { actor } = caller;
          const answer = await endpoint.answer({ actor, request, page: null, ...addressOf(request) });
          if (answer.response.kind === 'client_gone') response.destroy();
          else await send(response, answer.response);
        });
        break;
    }
  };
  for (const [route, endpoint] of endpoints) mount(route, endpoint);
}

const METHOD_NOT_ALLOWED = { code: 'method_not_allowed', message: 'Method not allowed. See Allow.' };

/**
 * Answers what no route has answered: 405 with `Allow` on the path of a route, else 404. Comes after all routes. Needs no
 * key, because the routes are public.
 */
export function refuseUnknown(app: Express, routes: Iterable<Pick<Route, 'method' | 'path'>>): void {
  for (const { method, path } of routes) {
    app.all(path, (_request, response, next) => {
      response.append('allow', method === 'get' ? 'GET, HEAD' : method.toUpperCase());
      next();
    });
  }
  app.use((_request, response) =>
    response.hasHeader('allow')
      ? sendError(response, 405, METHOD_NOT_ALLOWED)
      : sendError(response, 404, NO_SUCH_ADDRESS),
  );
}

function addressOf(request: Request): Pick<UncheckedCall, 'params' | 'path' | 'idempotencyKey' | 'traceparent'> {
  return {
    params: (name) => {
      const value = request.params[name];
      return typeof value === 'string' ? value : '';
    },
    path: request.path,
    idempotencyKey: request.get('idempotency-key'),
    traceparent: request.get('traceparent'),
  };
}

const parse = express.json({
  type: () => true,
  limit: JSON_BODY_BYTES_MAX,
  verify(_request, _response, bytes, charset) {
    // Decoding would replace every invalid byte by the same character, and that would be reported.
    if (charset === 'utf-8' && !isUtf8(bytes)) throw new NotUtf8();
  },
});

class NotUtf8 extends Error {
  readonly status = 400;
}

/**
 * Reads the JSON body of a request; an empty object without one. Rejects with an error that has a `status` when it is too
 * large, not JSON in UTF-8, or in another encoding (see `answerError`).
 */
async function readJson(request: Request, response: Response): Promise<unknown> {
  await new Promise<void>((resolve, reject) => {
    parse(request, response, (error: unknown) => {
      if (error === undefined) resolve();
      else reject(error instanceof Error ? error : new Error('the body cannot be read'));
    });
  });
  const body: unknown = request.body;
  return body ?? {};
}
