import type { Route } from '../contracts/operator-routes';
import type { FormRoute } from '../workflow/operator-port';
import type { AnswerStore } from '../workflow/ports';
import { barred, checkCall, type Call, type Incoming } from './check-call';
import type { GivenImage } from './give-image';
import { changeOnce, type Change } from './idempotency';
import type { FormTools, ReceivedForm } from './receive-form';
import { answered, NOTHING, problem, type Problem, type Said } from './said';
import { takeForm, type IncomingForm, type SaidToForm } from './take-form';

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

/** The heart of a route: from who calls and what they say to what they are told, whichever way both travel. */
export type Endpoint =
  | { readonly takes: 'json'; readonly answer: (incoming: Incoming) => Promise<Said> }
  | { readonly takes: 'form'; readonly answer: (incoming: IncomingForm) => Promise<SaidToForm> };

export type Endpoints = ReadonlyMap<Route, Endpoint>;

/** Makes endpoints of routes and their handlers: check the role, check the contract, then call. */
export function createServer(tools: { answers: AnswerStore } & FormTools): Server & { readonly endpoints: Endpoints } {
  const endpoints = new Map<Route, Endpoint>();
  const serve = <R extends Route>(route: R, handle: (call: Call<R>, incoming: Incoming) => Promise<Said>) => {
    const answer = async (incoming: Incoming): Promise<Said> => {
      const refusal = barred(route, incoming.actor);
      if (refusal) return refusal;
      const call = checkCall(route, incoming);
      return 'refusal' in call ? call : handle(call, incoming);
    };
    endpoints.set(route, { takes: 'json', answer });
  };
  return {
    endpoints,
    read: (route, handler) =>
      serve(route, async (call) => {
        const answer = await handler(call);
        return answer === null ? NOTHING : answered(route.status, answer);
      }),
    ask: (route, handler) =>
      serve(route, async (call) => {
        const said = await handler(call);
        return 'answer' in said ? answered(route.status, said.answer) : problem(said);
      }),
    change: (route, handler) =>
      serve(route, (call, { path, idempotencyKey, body }) =>
        changeOnce({ method: route.method.toUpperCase(), path, idempotencyKey, asked: body }, tools.answers, {
          ...handler(call),
          status: route.status,
        }),
      ),
    takeForm: (route, handler) => {
      const answer = (incoming: IncomingForm) => takeForm({ route, handler }, incoming, tools);
      endpoints.set(route, { takes: 'form', answer });
    },
    giveImage: (route, handler) =>
      serve(route, async (call) => {
        const image = await handler(call);
        return image === null ? NOTHING : { kind: 'image', image };
      }),
  };
}
