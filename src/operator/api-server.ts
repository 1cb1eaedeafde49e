import type { Route } from '../contracts/routes/route';
import type { FieldRule } from '../domain/refusal';
import type { FormRoute } from '../workflow/operator-port';
import type { AnswerStore } from '../workflow/ports';
import { checkCall, checkRole, type RouteCall, type UncheckedCall } from './check-call';
import { answerForm, type FormResponse, type UncheckedForm } from './form/form-endpoint';
import { changeOnce, type Change } from './idempotency';
import { listCursor } from './list-cursor';
import type { FormTools, ReceivedForm } from './form/receive-form';
import {
  answered,
  invalidFields,
  NOT_FOUND,
  type CsvText,
  type EndpointResponse,
  type ImageFile,
  type RefusedResponse,
} from './responses';
import type { Clock } from '../platform/clock';
import type { Tracing } from '../platform/log/tracing';

/**
 * How a call of the operator API is answered. Each route of `contracts/operator-routes.ts` has one endpoint with two
 * ways in: HTTP and the console pages in the same process. Both get the same checks, so they cannot differ.
 *
 *     HTTP request ── mount.ts: identify the caller, parse the JSON body ──┐
 *                                                                          ├─▶ endpoint ──▶ EndpointResponse
 *     console page ── in-process.ts: actor of the session, params, body ───┘
 *
 * An endpoint checks the role and the contract of the route (check-call.ts), reads a form (form-endpoint.ts) or runs a
 * change at most once per Idempotency-Key (idempotency.ts), and calls the handler. send-response.ts writes the response
 * over HTTP; in-process.ts returns it as a value. Handlers are registered by tows.ts, violations.ts and others.
 */
export interface ApiServer {
  /** Registers a route that only reads. The handler's value is the answer; null means 404. */
  read<R extends Route>(route: R, handler: (call: RouteCall<R>) => Promise<unknown>): void;
  /** Registers a route that reads a page of a list, with a cursor of the store; null means 404. */
  list<R extends Route>(
    route: R,
    handler: (call: RouteCall<R>) => Promise<{ readonly next_cursor: string | null } | null>,
  ): void;
  /** Registers a route that asks the parking service, which may fail. It changes nothing, also as a POST. */
  ask<R extends Route>(
    route: R,
    handler: (call: RouteCall<R>) => Promise<{ readonly answer: object } | RefusedResponse>,
  ): void;
  /** Registers a route that makes a change, at most once per Idempotency-Key. */
  change<R extends Route>(route: R, handler: (call: RouteCall<R>) => Change, options?: ChangeOptions): void;
  /** Registers a route that takes a form. Images that the change does not keep are deleted after the response. */
  form<R extends FormRoute>(route: R, handler: (call: RouteCall<R>, form: ReceivedForm) => Change): void;
  /** Registers a route that answers with an image file; null means 404. */
  image<R extends Route>(route: R, handler: (call: RouteCall<R>) => Promise<ImageFile | null>): void;
  /** Registers a route that answers with a CSV of any length. */
  csv<R extends Route>(route: R, handler: (call: RouteCall<R>) => CsvText): void;
}

export interface ChangeOptions {
  /**
   * Returns the fields that break a rule which the contract cannot check. It is called when the contract has refused a
   * call of a sufficient role, so that the refusal names all failing fields. It must change nothing.
   */
  readonly alsoFails?: (call: Pick<UncheckedCall, 'actor' | 'params' | 'body'>) => Promise<readonly FieldRule[]>;
}

export type Endpoint =
  | { readonly takes: 'json'; readonly answer: (call: UncheckedCall) => Promise<EndpointResponse> }
  | { readonly takes: 'form'; readonly answer: (call: UncheckedForm) => Promise<FormResponse> };

export type Endpoints = ReadonlyMap<Route, Endpoint>;

export function createApiServer(
  tools: { answers: AnswerStore } & FormTools & TraceTools,
): ApiServer & { readonly endpoints: Endpoints } {
  const endpoints = new Map<Route, Endpoint>();
  const register = <R extends Route>(
    route: R,
    handle: (call: RouteCall<R>, unchecked: UncheckedCall) => Promise<EndpointResponse>,
    { alsoFails }: ChangeOptions = {},
  ) => {
    const answer = async (unchecked: UncheckedCall): Promise<EndpointResponse> => {
      const forbidden = checkRole(route, unchecked.actor);
      if (forbidden) return forbidden;
      const call = checkCall(route, unchecked);
      if (!('refusal' in call)) return handle(call, unchecked);
      return alsoFails ? withFaults(call, await alsoFails(unchecked)) : call;
    };
    endpoints.set(route, { takes: 'json', answer });
  };
  return {
    endpoints,
    read: (route, handler) =>
      register(route, async (call) => {
        const answer = await handler(call);
        return answer === null ? NOT_FOUND : answered(route.status, answer);
      }),
    list: (route, handler) =>
      register(route, async (call, unchecked) => {
        const page = await handler(call);
        if (page === null) return NOT_FOUND;
        return answered(route.status, { ...page, next_cursor: listCursor(route, unchecked, page.next_cursor) });
      }),
    ask: (route, handler) =>
      register(route, async (call) => {
        const result = await handler(call);
        return 'answer' in result ? answered(route.status, result.answer) : result;
      }),
    change: (route, handler, options) =>
      register(
        route,
        (call, { path, idempotencyKey, body, traceparent }) =>
          traced({ route, call, traceparent }, tools, () =>
            changeOnce(
              // A route without a contract for its body does not read the body.
              { method: route.method.toUpperCase(), path, idempotencyKey, content: route.body ? body : {} },
              tools.answers,
              { status: route.status, ...handler(call) },
            ),
          ),
        options,
      ),
    form: (route, handler) => {
      const answer = (unchecked: UncheckedForm) => answerForm({ route, handler }, unchecked, tools);
      endpoints.set(route, { takes: 'form', answer });
    },
    image: (route, handler) =>
      register(route, async (call) => {
        const image = await handler(call);
        return image === null ? NOT_FOUND : { kind: 'image', image };
      }),
    csv: (route, handler) => register(route, (call) => Promise.resolve({ kind: 'csv', csv: handler(call) })),
  };
}

/** The refusal with further failing fields. A field that it names already keeps its rule. */
function withFaults({ refusal }: RefusedResponse, faults: readonly FieldRule[]): RefusedResponse {
  const isNamed = (name: string) => refusal.details.some(({ field }) => field === name);
  return invalidFields([...refusal.details, ...faults.filter(({ field }) => !isNamed(field))]);
}

interface TraceTools {
  readonly tracing: Tracing;
  readonly clock: Clock;
}

interface TracedCall<R extends Route> {
  readonly route: R;
  readonly call: RouteCall<R>;
  readonly traceparent: string | undefined;
}

/** Makes a change, and gives its span to the trace of the tow or violation that the path of its route names. */
async function traced<R extends Route>(
  { route, call, traceparent }: TracedCall<R>,
  { tracing, clock }: TraceTools,
  change: () => Promise<EndpointResponse>,
): Promise<EndpointResponse> {
  const subject = subjectOf(route, call);
  if (!subject) return change();
  const startedMs = clock.monotonicMs();
  const response = await change();
  tracing.ended({
    subject,
    name: `${route.method.toUpperCase()} ${route.path}`,
    place: 'later',
    kind: 'received',
    endedAtMs: clock.nowMs(),
    durationMs: clock.monotonicMs() - startedMs,
    isFailed: response.kind === 'refused',
    attributes: {
      http_status: response.kind === 'refused' ? response.refusal.httpStatus : route.status,
      code: response.kind === 'refused' ? response.refusal.code : null,
      role: call.actor.role,
    },
    traceparent,
  });
  return response;
}

function subjectOf<R extends Route>({ path }: Route, { params }: RouteCall<R>) {
  if (path.includes('/:towing_reference_id')) return { kind: 'tow', id: params('towing_reference_id') } as const;
  if (path.includes('/:violation_id')) return { kind: 'violation', id: params('violation_id') } as const;
  return null;
}
