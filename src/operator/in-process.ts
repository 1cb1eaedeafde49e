import { z } from 'zod';
import { NO_SUCH_ADDRESS } from '../contracts/common';
import type { Route } from '../contracts/operator-routes';
import type { AnswerOf, ApiAnswer, ApiCall, ApiForm, OperatorApi } from '../workflow/operator-port';
import type { AnswerStore } from '../workflow/ports';
import { BODY_LIMIT_BYTES } from './body-limit';
import type { Incoming } from './check-call';
import { throwRestAway } from './early-answer';
import { scopeOf } from './idempotency';
import { refused, TOO_LARGE, type Refused, type Said } from './said';
import type { Endpoint, Endpoints } from './serve';

const NO_ADDRESS = refused(404, NO_SUCH_ADDRESS);
const CLIENT_GONE = refused(400, {
  code: 'client_gone',
  message: 'The client went away before its form had come to its end.',
});

/** The API for whoever lives in this process: the same endpoints that are on the wire. */
export function createOperatorApi(endpoints: Endpoints, answers: Pick<AnswerStore, 'find'>): OperatorApi {
  return {
    async call(route, call) {
      const endpoint = endpointOf(endpoints, route);
      if (endpoint.takes !== 'json' || route.gives !== undefined)
        throw new Error(`${route.path} is not for JSON alone`);
      const where = addressed(route, call);
      if ('refusal' in where) return { ok: false, refusal: where.refusal };
      const body = JSON.stringify(call.body ?? {});
      // Over HTTP nobody is asked who they are before their body is read.
      if (Buffer.byteLength(body) > BODY_LIMIT_BYTES) return { ok: false, refusal: TOO_LARGE.refusal };
      const { actor, query = {}, idempotencyKey } = call;
      const parsed: unknown = JSON.parse(body);
      return toCaller(route, await endpoint.answer({ ...where, actor, query, body: parsed, idempotencyKey }));
    },
    async remembers(route, call) {
      const where = addressed(route, call);
      if ('refusal' in where) return false;
      const scope = scopeOf({ method: route.method.toUpperCase(), path: where.path }, call.idempotencyKey);
      return (await answers.find(scope)) !== null;
    },
    async form(route, form) {
      const endpoint = endpointOf(endpoints, route);
      if (endpoint.takes !== 'form') throw new Error(`${route.path} takes no form`);
      const { request, actor, ...own } = form;
      try {
        const where = addressed(route, form);
        if ('refusal' in where) return { ok: false, refusal: where.refusal, fields: {} };
        const { said, fields } = await endpoint.answer({ ...where, actor, request, own, idempotencyKey: undefined });
        return { ...toCaller(route, said.kind === 'gone' ? CLIENT_GONE : said), fields };
      } finally {
        await throwRestAway(request);
      }
    },
  };
}

function endpointOf(endpoints: Endpoints, route: Route): Endpoint {
  const endpoint = endpoints.get(route);
  if (!endpoint) throw new Error(`nothing serves ${route.method} ${route.path}`);
  return endpoint;
}

/** The address that a program would call, or what it would be told where an address has no room for a part. */
function addressed(
  route: Route,
  { params = {} }: Pick<ApiCall | ApiForm, 'params'>,
): Pick<Incoming, 'params' | 'path'> | Refused {
  const valueOf = (name: string) => (params[name] ?? '').toWellFormed();
  let isWhole = true;
  const path = route.path.replaceAll(/:(\w+)/g, (_part, name: string) => {
    const value = valueOf(name);
    isWhole &&= value !== '';
    return encodeURIComponent(value);
  });
  return isWhole ? { params: valueOf, path } : NO_ADDRESS;
}

function toCaller<R extends Route>(route: R, said: Said): ApiAnswer<AnswerOf<R>> {
  switch (said.kind) {
    case 'answered':
      return { ok: true, value: valueOf(route, said.body) };
    case 'refused':
      return { ok: false, refusal: said.refusal };
    case 'image':
      throw new Error(`${route.path} gives an image, which goes over HTTP alone`);
  }
}

/** What a program would read, in the types of the contract. */
function valueOf<R extends Route>(route: R, body: unknown): AnswerOf<R> {
  const contract = route.again ? z.union([route.answer, route.again]) : route.answer;
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Parsed by the contract of the route.
  return contract.parse(JSON.parse(JSON.stringify(body))) as AnswerOf<R>;
}
