import { errorView } from '../contracts/operator';
import type { Route } from '../contracts/operator-routes';
import type { Json, SchemaWriter } from './openapi-schemas';

/** The refusals of the API (design, "Outside face"), one description each; routes refer to those that apply. */
const REFUSALS = {
  400: ['NotReadable', 'The body is not what its content type says.'],
  401: ['NotAuthenticated', 'No API key, or one that is not valid.'],
  403: ['NotAllowed', 'The role of the API key is too weak.'],
  404: ['NotFound', 'There is no such thing.'],
  409: ['Conflict', 'The state it is in does not allow this.'],
  413: ['TooLarge', 'The body, or all images together, are larger than allowed.'],
  415: ['WrongType', 'The body must be multipart/form-data.'],
  422: ['Invalid', 'Fields fail their rules; every one of them is named.'],
  429: ['TooMany', 'Too many calls; come back after Retry-After seconds.'],
  503: ['Unavailable', 'It could not be carried out, or not confirmed, now; come back after Retry-After seconds.'],
} as const;
type RefusalStatus = keyof typeof REFUSALS;

const WITH_RETRY_AFTER: readonly RefusalStatus[] = [429, 503];

/** Every refusal, by the name that routes refer to. */
export function refusalComponents(schemas: SchemaWriter): Json {
  const content = { 'application/json': { schema: schemas.write(errorView, 'output') } };
  const described = Object.entries(REFUSALS).map(([status, [name, description]]) => {
    const waits = WITH_RETRY_AFTER.some((known) => String(known) === status);
    const headers = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };
    return [name, { description, ...(waits ? { headers } : {}), content }] as const;
  });
  return {
    ...Object.fromEntries(described),
    Refused: { description: 'Any other refusal; the code says why.', content },
  };
}

/** The refusals that a route may answer with, by status. */
export function refusalsOf(route: Route): Json {
  const applying = statusesOf(route).map((status) => [status, reference(REFUSALS[status][0])] as const);
  return { ...Object.fromEntries(applying), default: reference('Refused') };
}

function statusesOf(route: Route): RefusalStatus[] {
  const takesBody = route.body !== undefined;
  const changes = route.method === 'post' && route.status !== 200;
  const applies: Readonly<Record<RefusalStatus, boolean>> = {
    400: takesBody,
    401: true,
    403: route.role !== 'viewer',
    404: route.path.includes(':'),
    409: changes,
    413: takesBody,
    415: route.takes === 'form',
    422: takesBody || route.query !== undefined || route.path.includes(':zone_id'),
    429: true,
    503: true,
  };
  return ([400, 401, 403, 404, 409, 413, 415, 422, 429, 503] as const).filter((status) => applies[status]);
}

function reference(name: string): Json {
  return { $ref: `#/components/responses/${name}` };
}
