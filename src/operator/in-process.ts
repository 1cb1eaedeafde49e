import { NO_SUCH_ADDRESS } from '../contracts/common';
import { type Route, answerContract } from '../contracts/routes/route';
import type { RouteAnswer, ApiAnswer, ApiCall, ApiForm, OperatorApi } from '../workflow/operator-port';
import type { AnswerStore } from '../workflow/ports';
import type { Endpoint, Endpoints } from './api-server';
import type { UncheckedCall } from './check-call';
import { scopeOf } from './idempotency';
import {
  BODY_TOO_LARGE,
  JSON_BODY_BYTES_MAX,
  refusedResponse,
  type EndpointResponse,
  type RefusedResponse,
} from './responses';
import { discardBody } from './send-response';

const NO_ADDRESS = refusedResponse(404, NO_SUCH_ADDRESS);
const CLIENT_GONE = refusedResponse(400, {
  code: 'client_gone',
  message: 'The client disconnected before its form was complete. Nothing was stored.',
});

/** The operator API for code in the same process. It calls the endpoints that HTTP requests reach. */
export function createOperatorApi(endpoints: Endpoints, answers: Pick<AnswerStore, 'find'>): OperatorApi {
  return {
    async call(route, call) {
      const endpoint = endpointOf(endpoints, route);
      if (endpoint.takes !== 'json' || route.gives !== undefined)
        throw new Error(`${route.path} does not take and answer JSON`);
      const address = addressOf(route, call);
      if ('refusal' in address) return { ok: false, refusal: address.refusal };
      const body = JSON.stringify(call.body ?? {});
      if (Buffer.byteLength(body) > JSON_BODY_BYTES_MAX) return { ok: false, refusal: BODY_TOO_LARGE.refusal };
      const { actor, query = {}, idempotencyKey } = call;
      // Parsed again, because the contract expects JSON: undefined members are absent there.
      const parsed: unknown = JSON.parse(body);
      return toResult(route, await endpoint.answer({ ...address, actor, query, body: parsed, idempotencyKey }));
    },
    async hadEffect(route, call) {
      const address = addressOf(route, call);
      if ('refusal' in address) return false;
      const scope = scopeOf({ method: route.method.toUpperCase(), path: address.path }, call.idempotencyKey);
      return (await answers.find(scope)) !== null;
    },
    async form(route, form) {
      const endpoint = endpointOf(endpoints, route);
      if (endpoint.takes !== 'form') throw new Error(`${route.path} takes no form`);
      const { request, actor, ...page } = form;
      try {
        const address = addressOf(route, form);
        if ('refusal' in address) return { ok: false, refusal: address.refusal, fields: {} };
        const unchecked = { ...address, actor, request, page, idempotencyKey: undefined };
        const { response, fields } = await endpoint.answer(unchecked);
        return { ...toResult(route, response.kind === 'client_gone' ? CLIENT_GONE : response), fields };
      } finally {
        await discardBody(request);
      }
    },
  };
}

function endpointOf(endpoints: Endpoints, route: Route): Endpoint {
  const endpoint = endpoints.get(route);
  if (!endpoint) throw new Error(`no endpoint for ${route.method} ${route.path}`);
  return endpoint;
}

/** The path that an HTTP client would call. A path parameter that is empty is refused with 404, as over HTTP. */
function addressOf(
  route: Route,
  { params = {} }: Pick<ApiCall | ApiForm, 'params'>,
): Pick<UncheckedCall, 'params' | 'path'> | RefusedResponse {
  const valueOf = (name: string) => (params[name] ?? '').toWellFormed();
  let isComplete = true;
  const path = route.path.replaceAll(/:(\w+)/g, (_part, name: string) => {
    const value = valueOf(name);
    isComplete &&= value !== '';
    return encodeURIComponent(value);
  });
  return isComplete ? { params: valueOf, path } : NO_ADDRESS;
}

function toResult<R extends Route>(route: R, response: EndpointResponse): ApiAnswer<RouteAnswer<R>> {
  switch (response.kind) {
    case 'answered':
      return { ok: true, value: parseAnswer(route, response.body) };
    case 'refused':
      return { ok: false, refusal: response.refusal };
    case 'image':
    case 'csv':
      throw new Error(`${route.path} answers with a file, which is served over HTTP only`);
  }
}

/** The answer as an HTTP client reads it, parsed by the contract of the route. */
function parseAnswer<R extends Route>(route: R, body: unknown): RouteAnswer<R> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Parsed by the contract of the route.
  return answerContract(route).parse(JSON.parse(JSON.stringify(body))) as RouteAnswer<R>;
}
