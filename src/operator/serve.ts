import type { Express, Request, Response } from 'express';
import type { Route } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import { roleAllows } from '../domain/vocabulary';
import type { AnswerStore } from '../workflow/ports';
import type { Actor } from '../workflow/progress';
import { bearerKey, type Authenticator } from './authenticate';
import { changeOnce, type Change } from './idempotency';
import { sendError, sendInvalid } from './reply';

type OutputOf<S> = S extends { readonly _zod: { readonly output: infer T } } ? T : Record<string, never>;

/** A request as a handler sees it: who calls, and what passed the contract. */
export interface Call<R extends Route> {
  readonly actor: Actor;
  /** The varying parts of the path, by name. */
  readonly params: (name: string) => string;
  readonly query: OutputOf<R['query']>;
  readonly body: OutputOf<R['body']>;
}

export interface Server {
  /** Serves a route that only reads; the handler's value is the answer, null means 404. */
  read<R extends Route>(route: R, handler: (call: Call<R>) => Promise<unknown>): void;
  /** Serves a route that changes something, at most once per Idempotency-Key. */
  change<R extends Route>(route: R, handler: (call: Call<R>) => Change): void;
}

/** Wires routes of the table to their handlers: authenticate, check the role, check the contract, then call. */
export function createServer(app: Express, tools: { authenticator: Authenticator; answers: AnswerStore }): Server {
  const serve = <R extends Route>(
    route: R,
    handle: (call: Call<R>, exchange: { request: Request; response: Response }) => Promise<void>,
  ) => {
    app[route.method](route.path, async (request, response) => {
      const call = await admit(route, { request, response }, tools.authenticator);
      if (call) await handle(call, { request, response });
    });
  };
  return {
    read: (route, handler) =>
      serve(route, async (call, { response }) => {
        const answer = await handler(call);
        if (answer === null) sendError(response, 404, { code: 'not_found', message: 'There is no such thing.' });
        else response.status(route.status).json(answer);
      }),
    change: (route, handler) =>
      serve(route, (call, exchange) => changeOnce(exchange, tools.answers, { ...handler(call), status: route.status })),
  };
}

/** Who calls and with what, or null after a refusal has been sent. */
async function admit<R extends Route>(
  route: R,
  { request, response }: { request: Request; response: Response },
  authenticator: Authenticator,
): Promise<Call<R> | null> {
  const actor = await identify(request, response, authenticator);
  if (!actor) return null;
  if (!roleAllows(actor.role, route.role)) {
    sendError(response, 403, { code: 'role_not_allowed', message: `This needs the role ${route.role}.` });
    return null;
  }
  const query = route.query?.safeParse(request.query);
  const body = route.body?.safeParse(request.body ?? {});
  const details = [query, body].flatMap((checked) => (checked?.error ? failedRules(checked.error) : []));
  if (details.length > 0) {
    sendInvalid(response, details);
    return null;
  }
  return { actor, params: (name) => paramOf(request, name), ...checkedParts<R>(query?.data, body?.data) };
}

/** The holder of the call's key, or null after a 401 has been sent. */
export async function identify(
  request: Request,
  response: Response,
  authenticator: Authenticator,
): Promise<Actor | null> {
  const key = bearerKey(request);
  const actor = key === null ? null : await authenticator.holderOf(key);
  if (actor) return actor;
  response.set('www-authenticate', 'Bearer');
  sendError(response, 401, {
    code: 'not_authenticated',
    message: 'A valid API key is needed: Authorization: Bearer <key>.',
  });
  return null;
}

function paramOf(request: Request, name: string): string {
  const value = request.params[name];
  return typeof value === 'string' ? value : '';
}

/** The schemas of the route have just parsed these values, which the type system cannot follow through the table. */
function checkedParts<R extends Route>(query: unknown, body: unknown): Pick<Call<R>, 'query' | 'body'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Parsed by route.query and route.body above.
  return { query: query ?? {}, body: body ?? {} } as Pick<Call<R>, 'query' | 'body'>;
}
