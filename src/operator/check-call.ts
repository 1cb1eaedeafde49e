import type { Route } from '../contracts/routes/route';
import { failedRules } from '../contracts/rules';
import type { Actor } from '../domain/ops/audit';
import type { FieldRule } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import { withStoreCursor } from './list-cursor';
import { invalidFields, refusedResponse, type RefusedResponse } from './responses';

type ParsedBy<S> = S extends { readonly _zod: { readonly output: infer T } } ? T : Record<string, never>;

/** What every call has. */
export interface PathCall {
  readonly actor: Actor;
  /** A path parameter by name. */
  readonly params: (name: string) => string;
}

/** A call that has passed the role check and the contract of its route. */
export interface RouteCall<R extends Route> extends PathCall {
  readonly query: ParsedBy<R['query']>;
  readonly body: ParsedBy<R['body']>;
}

/** A call before its checks. Only the actor is known to be genuine. */
export interface UncheckedCall extends PathCall {
  readonly query: unknown;
  /** The parsed JSON. */
  readonly body: unknown;
  /** The path of the request, with its parameters filled in. */
  readonly path: string;
  readonly idempotencyKey: string | undefined;
  /** The W3C `traceparent` of an HTTP request. */
  readonly traceparent?: string | undefined;
}

/** The refusal when the role of the actor does not allow the route, else null. */
export function checkRole(route: Route, actor: Actor): RefusedResponse | null {
  if (roleAllows(actor.role, route.role)) return null;
  return refusedResponse(403, { code: 'role_not_allowed', message: `This call needs the role ${route.role}.` });
}

/**
 * Parses query and body by the contract of the route. Returns the call, or a refusal that names every failing field.
 * `faults` are failures that the reader of a form has found already.
 */
export function checkCall<R extends Route>(
  route: R,
  unchecked: Pick<UncheckedCall, 'actor' | 'params' | 'query' | 'body'>,
  faults: readonly FieldRule[] = [],
): RouteCall<R> | RefusedResponse {
  const { actor, params } = unchecked;
  const query = route.query?.safeParse(withStoreCursor(route, unchecked));
  const body = route.body?.safeParse(unchecked.body);
  const broken = [query, body].flatMap((checked) => (checked?.error ? failedRules(checked.error) : []));
  // A field with a fault is absent from the body. Do not report it as missing as well.
  const isFaulty = (name: string) => faults.some(({ field }) => field === name);
  const details = [...broken.filter(({ field }) => !isFaulty(field)), ...faults];
  return details.length > 0 ? invalidFields(details) : { actor, params, ...checkedParts<R>(query?.data, body?.data) };
}

/** The schemas of the route have just parsed these values, which the type system cannot follow through the table. */
function checkedParts<R extends Route>(query: unknown, body: unknown): Pick<RouteCall<R>, 'query' | 'body'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Parsed by route.query and route.body above.
  return { query: query ?? {}, body: body ?? {} } as Pick<RouteCall<R>, 'query' | 'body'>;
}
