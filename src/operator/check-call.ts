import type { Route } from '../contracts/operator-routes';
import { failedRules } from '../contracts/rules';
import type { FieldRule } from '../domain/refusal';
import { roleAllows } from '../domain/vocabulary';
import type { Actor } from '../workflow/progress';
import { invalidFields, refused, type Refused } from './said';

type OutputOf<S> = S extends { readonly _zod: { readonly output: infer T } } ? T : Record<string, never>;

/** A request as a handler sees it: who calls, and what passed the contract. */
export interface Call<R extends Route> {
  readonly actor: Actor;
  /** The varying parts of the path, by name. */
  readonly params: (name: string) => string;
  readonly query: OutputOf<R['query']>;
  readonly body: OutputOf<R['body']>;
}

/** A call on its way to a route, whichever way it came; nothing of it is checked but who calls. */
export interface Incoming {
  readonly actor: Actor;
  readonly params: (name: string) => string;
  readonly query: unknown;
  /** As JSON has it. */
  readonly body: unknown;
  /** With its varying parts filled in, as it stands in an address. */
  readonly path: string;
  readonly idempotencyKey: string | undefined;
}

/** Why the actor may not call the route; null when they may. */
export function barred(route: Route, actor: Actor): Refused | null {
  if (roleAllows(actor.role, route.role)) return null;
  return refused(403, { code: 'role_not_allowed', message: `This needs the role ${route.role}.` });
}

/** The call as its contract has it, or a refusal that names everything that breaks it; `faults` are known beforehand. */
export function checkCall<R extends Route>(
  route: R,
  incoming: Pick<Incoming, 'actor' | 'params' | 'query' | 'body'>,
  faults: readonly FieldRule[] = [],
): Call<R> | Refused {
  const { actor, params } = incoming;
  const query = route.query?.safeParse(incoming.query);
  const body = route.body?.safeParse(incoming.body);
  const broken = [query, body].flatMap((checked) => (checked?.error ? failedRules(checked.error) : []));
  // A field that could not be taken in is not missing as well.
  const isFaulty = (name: string) => faults.some(({ field }) => field === name);
  const details = [...broken.filter(({ field }) => !isFaulty(field)), ...faults];
  return details.length > 0 ? invalidFields(details) : { actor, params, ...checkedParts<R>(query?.data, body?.data) };
}

/** The schemas of the route have just parsed these values, which the type system cannot follow through the table. */
function checkedParts<R extends Route>(query: unknown, body: unknown): Pick<Call<R>, 'query' | 'body'> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Parsed by route.query and route.body above.
  return { query: query ?? {}, body: body ?? {} } as Pick<Call<R>, 'query' | 'body'>;
}
