import type { Express, Request } from 'express';
import type { Route } from '../contracts/routes/route';
import type { Endpoint, Endpoints } from './api-server';
import type { Authenticator } from './authenticate';
import { checkRole, type UncheckedCall } from './check-call';
import { identify } from './identify';
import { readJson } from './read-json';
import { send } from './send-response';

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
