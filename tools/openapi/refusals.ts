import { capacityView, ticketView } from '../../src/contracts/routes/violations';
import { errorView } from '../../src/contracts/operator';
import type { Route } from '../../src/contracts/routes/route';
import type { OpenApiObject, SchemaWriter } from './schemas';

/** Status → name and description of the shared response. */
const REFUSALS = {
  400: ['NotReadable', 'The body cannot be read as its content type.'],
  401: ['NotAuthenticated', 'The API key is missing or invalid.'],
  403: ['NotAllowed', 'The role of the API key does not allow this.'],
  404: ['NotFound', 'There is nothing with this id.'],
  409: ['Conflict', 'The current state does not allow this.'],
  413: ['TooLarge', 'The body, or all images together, are too large.'],
  415: [
    'WrongType',
    'The body must be of the accepted content type, in UTF-8, and compressed with gzip, deflate or br only.',
  ],
  422: ['Invalid', 'Fields are invalid. Every failing field is named.'],
  429: ['TooMany', 'Too many calls. Try again after Retry-After seconds.'],
  502: ['ServiceUnreadable', 'The answer of the service cannot be read.'],
  503: ['Unavailable', 'The request failed, or its result is not known. Try again after Retry-After seconds.'],
} as const;
type RefusalStatus = keyof typeof REFUSALS;

const WITH_RETRY_AFTER: readonly RefusalStatus[] = [429, 503];

/** The shared responses of all refusals, by name. */
export function refusalComponents(schemas: SchemaWriter): OpenApiObject {
  const content = { 'application/json': { schema: schemas.write(errorView, 'output') } };
  const described = Object.entries(REFUSALS).map(([status, [name, description]]) => {
    const waits = WITH_RETRY_AFTER.some((known) => String(known) === status);
    const headers = { 'Retry-After': { description: 'Seconds.', schema: { type: 'integer' } } };
    return [name, { description, ...(waits ? { headers } : {}), content }] as const;
  });
  return {
    ...Object.fromEntries(described),
    Refused: { description: 'Any other refusal. The code gives the reason.', content },
  };
}

/** References to the refusals that a route may answer, by status. */
export function refusalsOf(route: Route): OpenApiObject {
  const applying = statusesOf(route).map((status) => [status, reference(REFUSALS[status][0])] as const);
  return { ...Object.fromEntries(applying), default: reference('Refused') };
}

/** A POST that only asks the service or sends a test answers 200, and ignores an Idempotency-Key. */
export function isChange(route: Route): boolean {
  return route.method === 'post' && route.status !== 200;
}

function statusesOf(route: Route): RefusalStatus[] {
  const takesBody = route.body !== undefined;
  const applies: Readonly<Record<RefusalStatus, boolean>> = {
    400: takesBody,
    401: true,
    403: route.role !== 'viewer',
    404: route.path.includes(':'),
    409: isChange(route),
    413: takesBody,
    415: takesBody || route.takes === 'form',
    422: takesBody || route.query !== undefined || route.path.includes(':zone_id'),
    429: true,
    502: route.answer === capacityView || route.answer === ticketView,
    503: true,
  };
  return ([400, 401, 403, 404, 409, 413, 415, 422, 429, 502, 503] as const).filter((status) => applies[status]);
}

function reference(name: string): OpenApiObject {
  return { $ref: `#/components/responses/${name}` };
}
