import express, { type Express, type Request, type RequestHandler } from 'express';
import type { Route } from '../contracts/operator-routes';
import type { Authenticator } from './authenticate';
import { BODY_LIMIT_BYTES } from './body-limit';
import type { Incoming } from './check-call';
import { identify } from './identify';
import { send } from './reply';
import type { Endpoint, Endpoints } from './serve';

/** Puts the endpoints on the wire: each waits for requests at the address of its route. */
export function mountEndpoints(app: Express, endpoints: Endpoints, authenticator: Authenticator): void {
  const parseJson: RequestHandler = express.json({ type: () => true, limit: BODY_LIMIT_BYTES });
  const mount = (route: Route, endpoint: Endpoint) => {
    switch (endpoint.takes) {
      case 'json':
        app[route.method](route.path, parseJson, async (request, response) => {
          const caller = await identify(request, response, authenticator);
          if (!caller) return;
          const { actor } = caller;
          const body: unknown = request.body ?? {};
          await send(response, await endpoint.answer({ ...saidBy(request), actor, query: request.query, body }));
        });
        break;
      case 'form':
        // Nothing parses the body before it is known who sends it.
        app[route.method](route.path, async (request, response) => {
          const caller = await identify(request, response, authenticator);
          if (!caller) return;
          const { actor } = caller;
          const { said } = await endpoint.answer({ ...saidBy(request), actor, request, own: null });
          // Nobody is there to be answered; this only ends the exchange.
          if (said.kind === 'gone') response.destroy();
          else await send(response, said);
        });
        break;
    }
  };
  for (const [route, endpoint] of endpoints) mount(route, endpoint);
}

function saidBy(request: Request): Pick<Incoming, 'params' | 'path' | 'idempotencyKey'> {
  return {
    params: (name) => paramOf(request, name),
    path: request.path,
    idempotencyKey: request.get('idempotency-key'),
  };
}

function paramOf(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}
