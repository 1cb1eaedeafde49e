import express, { type Express, type Request, type RequestHandler, type Response } from 'express';
import type { Route } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import type { FieldRule } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import type { AnswerStore } from '../workflow/ports';
import type { Actor } from '../workflow/progress';
import { bearerKey, sendSlowed, type Authenticator } from './authenticate';
import { giveImage, type GivenImage } from './give-image';
import { changeOnce, type Change } from './idempotency';
import { receiveForm, type FormTools, type ReceivedForm } from './receive-form';
import { sendError, sendInvalid, sendProblem, type Problem } from './reply';

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
  /** Serves a route that asks somebody beyond the API, who may be unable to answer. It changes nothing, whatever its method. */
  ask<R extends Route>(route: R, handler: (call: Call<R>) => Promise<{ readonly answer: object } | Problem>): void;
  /** Serves a route that changes something, at most once per Idempotency-Key. */
  change<R extends Route>(route: R, handler: (call: Call<R>) => Change): void;
  /** Serves a route that takes a form. Images that the change does not keep are gone once it is answered. */
  takeForm<R extends FormRoute>(route: R, handler: (call: Call<R>, form: ReceivedForm) => Change): void;
  /** Serves a route that gives an image; null means 404. */
  giveImage<R extends Route>(route: R, handler: (call: Call<R>) => Promise<GivenImage | null>): void;
}

type FormRoute = Route & { readonly takes: 'form' };

const BODY_LIMIT_BYTES = 100_000;

/** Wires routes of the table to their handlers: authenticate, check the role, check the contract, then call. */
export function createServer(
  app: Express,
  tools: { authenticator: Authenticator; answers: AnswerStore } & FormTools,
): Server {
  const parseJson: RequestHandler = express.json({ type: () => true, limit: BODY_LIMIT_BYTES });
  const serve = <R extends Route>(
    route: R,
    handle: (call: Call<R>, exchange: { request: Request; response: Response }) => Promise<void>,
  ) => {
    app[route.method](route.path, parseJson, async (request, response) => {
      const actor = await admit(route, { request, response }, tools.authenticator);
      const call = actor && check(route, { request, response }, { actor, body: request.body ?? {}, faults: [] });
      if (call) await handle(call, { request, response });
    });
  };
  return {
    read: (route, handler) =>
      serve(route, async (call, { response }) => {
        const answer = await handler(call);
        if (answer === null) sendNothing(response);
        else response.status(route.status).json(answer);
      }),
    ask: (route, handler) =>
      serve(route, async (call, { response }) => {
        const said = await handler(call);
        if ('answer' in said) response.status(route.status).json(said.answer);
        else sendProblem(response, said);
      }),
    change: (route, handler) =>
      serve(route, (call, exchange) =>
        changeOnce({ ...exchange, asked: exchange.request.body ?? {} }, tools.answers, {
          ...handler(call),
          status: route.status,
        }),
      ),
    takeForm: (route, handler) => {
      // Nothing parses the body before it is known who sends it.
      app[route.method](route.path, async (request, response) => {
        const actor = await admit(route, { request, response }, tools.authenticator);
        const form = actor && (await receiveForm({ request, response }, tools));
        if (!form) return;
        try {
          const call = check(route, { request, response }, { actor, body: form.fields, faults: form.faults });
          if (!call) return;
          const change = { ...handler(call, form), status: route.status };
          await changeOnce({ request, response, asked: form.asked }, tools.answers, change);
        } finally {
          await form.upload.discard();
        }
      });
    },
    giveImage: (route, handler) =>
      serve(route, async (call, { response }) => {
        const image = await handler(call);
        if (image === null || !(await giveImage(response, image))) sendNothing(response);
      }),
  };
}

function sendNothing(response: Response): void {
  sendError(response, 404, { code: 'not_found', message: 'There is no such thing.' });
}

/** Who calls, or null after a refusal has been sent. */
async function admit(
  route: Route,
  { request, response }: { request: Request; response: Response },
  authenticator: Authenticator,
): Promise<Actor | null> {
  const actor = await identify(request, response, authenticator);
  if (!actor || roleAllows(actor.role, route.role)) return actor;
  sendError(response, 403, { code: 'role_not_allowed', message: `This needs the role ${route.role}.` });
  return null;
}

/** The call as its contract has it, or null after everything that breaks it has been named. */
function check<R extends Route>(
  route: R,
  { request, response }: { request: Request; response: Response },
  given: { actor: Actor; body: unknown; faults: readonly FieldRule[] },
): Call<R> | null {
  const query = route.query?.safeParse(request.query);
  const body = route.body?.safeParse(given.body);
  const broken = [query, body].flatMap((checked) => (checked?.error ? failedRules(checked.error) : []));
  // A field that could not be taken in is not missing as well.
  const isFaulty = (name: string) => given.faults.some(({ field }) => field === name);
  const details = [...broken.filter(({ field }) => !isFaulty(field)), ...given.faults];
  if (details.length > 0) {
    sendInvalid(response, details);
    return null;
  }
  return { actor: given.actor, params: (name) => paramOf(request, name), ...checkedParts<R>(query?.data, body?.data) };
}

/** The holder of the call's key, or null after a 401 has been sent, or a 429 to whoever guesses. */
export async function identify(
  request: Request,
  response: Response,
  authenticator: Authenticator,
): Promise<Actor | null> {
  const key = bearerKey(request);
  const checked = key === null ? null : await authenticator.check(key, request);
  if (checked?.kind === 'held') return checked.holder;
  if (checked?.kind === 'slowed') {
    sendSlowed(response, checked);
    return null;
  }
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
